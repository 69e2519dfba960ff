import Hummingbird

/// Every route and its middleware.
///
///     GET             /                      open
///     GET             /photos/:random_id     signed URL
///     POST            /api/signup            Basic
///     POST            /api/signin            Basic
///     GET             /api/get_token         Basic
///     POST            /api/reset_password    Token
///     GET POST DELETE /api/clear_token       Token
///     POST            /api/upload_photo      Token
///     GET             /api/get_photos        Token
///     DELETE          /api/delete_photo      Token
///     GET             /api/sessions          Token
///     DELETE          /api/sessions/:id      Token
///     DELETE          /api/account           Token
///
/// HEAD answers wherever GET does.
struct Routes {
    let accounts: AccountRoutes
    let photos: PhotoRoutes
    let servePhotos: ServePhotoRoutes
    let sessions: SessionRoutes
    let basic: BasicMiddleware
    let token: TokenMiddleware

    func router() -> Router<ServiceRequestContext> {
        let router = Router(context: ServiceRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestLogMiddleware())
        router.add(middleware: ErrorMiddleware())

        router.get("/") { request, _ in Welcome.response(to: request) }
        servePhotos.addPublicRoutes(to: router)

        accounts.addBasicRoutes(to: router.group("api").add(middleware: basic))

        photos.addListRoute(to: router.group("api"))

        let group = router.group("api").add(middleware: token).group(context: SessionRequestContext.self)
        accounts.addTokenRoutes(to: group)
        photos.addTokenRoutes(to: group)
        sessions.addTokenRoutes(to: group)
        return router
    }
}
