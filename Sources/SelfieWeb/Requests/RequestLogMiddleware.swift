import HTTPConnection
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Traces
import Tracing

/// Gives each request an id, counts it, and logs one line about it.
struct RequestLogMiddleware: ServiceMiddleware {
    let addresses: ClientAddressReader
    let metrics: RequestMetrics
    let tracer: SpanTracer
    /// Those of probes.
    let quietEndpoints: Set<String>

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let (start, timeOut) = (NIODeadline.now(), context.channel.handlerTimeOut)
        let requestID = RequestIdentifier.of(request.headers)
        var context = context
        context.requestID = requestID
        context.logger[metadataKey: "request_id"] = .string(requestID)
        // Hummingbird's own id, which ours replaces.
        context.logger[metadataKey: "hb.request.id"] = nil
        let span = tracer.span(of: request)
        if let trace = span?.context.traceContext {
            context.logger[metadataKey: "trace_id"] = .string(trace.traceID)
        }
        metrics.began()
        var response: Response
        do {
            response = try await Self.within(span) { [context] in try await next(request, context) }
        } catch {
            span?.end()
            metrics.brokeOff()
            throw error
        }
        if let name = RequestIdentifier.headerName { response.headers[name] = requestID }
        response.headers[.xContentTypeOptions] = "nosniff"
        let record = RequestRecord(
            self,
            request: request.head,
            status: response.status,
            context: context,
            start: start,
            timeOut: timeOut,
            span: span
        )
        if request.method == .head {
            record.end(byteCount: 0)
        } else if context.notes.contents.streamsAnswer {
            response.body = Self.recorded(response.body, record, context.notes)
        } else {
            record.end(byteCount: response.body.contentLength ?? 0)
        }
        return response
    }

    /// Handles a request as a part of its span, if it has one.
    private static func within(
        _ span: RecordedSpan?,
        _ body: () async throws -> Response
    ) async throws -> Response {
        guard let span else { return try await body() }
        return try await ServiceContext.withValue(span.context, operation: body)
    }

    /// The same body, whose record ends with its last byte.
    private static func recorded(
        _ body: ResponseBody,
        _ record: RequestRecord,
        _ notes: RequestNotes
    ) -> ResponseBody {
        let length = body.contentLength
        let counted = body.map { bytes in
            notes.noteSent(bytes.readableBytes)
            return bytes
        }
        return ResponseBody(contentLength: length) { writer in
            try await counted.write(writer)
            record.end(byteCount: length)
        }
    }
}
