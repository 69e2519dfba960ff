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
///
/// HEAD answers wherever GET does.
struct Routes {
    let accounts: AccountRoutes
    let photos: PhotoRoutes
    let servePhotos: ServePhotoRoutes
    let apiCredential: APICredential
    let sessions: SessionStore

    func router() -> Router<ServiceRequestContext> {
        let router = Router(context: ServiceRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestLogMiddleware())
        router.add(middleware: ErrorMiddleware())

        router.get("/") { request, _ in Welcome.response(to: request) }
        servePhotos.addPublicRoutes(to: router)

        let basic = router.group("api").add(middleware: BasicMiddleware(credential: apiCredential))
        accounts.addBasicRoutes(to: basic)

        photos.addListRoute(to: router.group("api"))

        let token = router.group("api").add(middleware: TokenMiddleware(sessions: sessions))
            .group(context: SessionRequestContext.self)
        accounts.addTokenRoutes(to: token)
        photos.addTokenRoutes(to: token)
        return router
    }
}
