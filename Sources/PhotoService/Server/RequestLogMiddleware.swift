import Hummingbird
import Logging

/// Names each request, and logs one line about it: method, route, status, duration.
///
/// The route is the pattern that matched, never the URL: that may hold ids, passwords and signatures.
struct RequestLogMiddleware: RouterMiddleware {
    typealias Context = ServiceRequestContext

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let requestID = RequestID.of(request.headers)
        var context = context
        context.logger[metadataKey: "request_id"] = "\(requestID)"
        var response = try await next(request, context)
        if let name = RequestID.headerName { response.headers[name] = requestID }
        response.headers[.xContentTypeOptions] = "nosniff"
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        context.logger.info(
            "request",
            metadata: [
                "method": "\(request.method.rawValue)",
                "route": "\(context.endpointPath ?? "none")",
                "status": "\(response.status.code)",
                "duration_ms": "\((milliseconds * 10).rounded() / 10)",
            ]
        )
        return response
    }
}
