import HTTPConnection
import Hummingbird
import Logging
import NIOCore

/// Gives each request an id, and logs one line about it: method, route, status, duration.
///
/// The route is the pattern that matched, never the URL. A URL may hold ids, passwords and signatures.
struct RequestLogMiddleware: ServiceMiddleware {
    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = NIODeadline.now()
        let requestID = RequestIdentifier.of(request.headers)
        var context = context
        context.requestID = requestID
        context.logger[metadataKey: "request_id"] = .string(requestID)
        // Hummingbird's own id, which ours replaces.
        context.logger[metadataKey: "hb.request.id"] = nil
        var response = try await next(request, context)
        if let name = RequestIdentifier.headerName { response.headers[name] = requestID }
        response.headers[.xContentTypeOptions] = "nosniff"
        let tenths = ((NIODeadline.now() - start).nanoseconds + 50_000) / 100_000
        context.logger.info(
            "request",
            metadata: [
                "method": .string(request.method.rawValue),
                "route": .string(context.endpointPath ?? "none"),
                "status": .string(String(response.status.code)),
                "duration_ms": .string("\(tenths / 10).\(tenths % 10)"),
            ]
        )
        return response
    }
}
