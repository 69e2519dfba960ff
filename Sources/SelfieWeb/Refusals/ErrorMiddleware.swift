import HTTPTypes
import Hummingbird

/// Turns whatever a handler throws into the contract's JSON.
struct ErrorMiddleware: ServiceMiddleware {
    let metrics: RequestMetrics
    let methods: AllowedMethods
    /// Whether clients of DreamFactory find its routes.
    let servesDreamFactory: Bool

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            var refusal = ServiceError(error)
            if error is HTTPError, refusal == .wrongURL, let allowed = methods.methods(at: request.uri.path) {
                refusal = .methodNotAllowed
                refusal.headers[.allow] = allowed
            }
            if let limit = RefusingLimit.name(of: error) { metrics.refused(by: limit) }
            if refusal.status.kind == .serverError { context.notes.note(failure: "\(error)") }
            return refusal.response(servesDreamFactory ? ServiceError.Form(of: request) : .usual)
        }
    }
}
