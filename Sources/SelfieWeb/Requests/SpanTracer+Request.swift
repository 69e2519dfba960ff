import HTTPTypes
import Hummingbird
import Traces
import Tracing

extension SpanTracer {
    /// The span of a request; nil when it is part of no trace, and none is recorded.
    func span(of request: Request) -> RecordedSpan? {
        var context = ServiceContext.topLevel
        extract(request.headers, into: &context, using: HeaderExtractor())
        guard isExporting || context.traceContext != nil else { return nil }
        return startSpan("request", context: context, ofKind: .server)
    }
}

private struct HeaderExtractor: Extractor {
    func extract(key: String, from headers: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { headers[$0] }
    }
}

extension RecordedSpan {
    /// Ends the span of a request.
    ///
    /// Source of the names: OpenTelemetry, "Semantic Conventions for HTTP Spans".
    func finish(_ line: RequestLine) {
        if isRecording, let method = line.method?.rawValue {
            let (endpoint, status) = (line.endpoint ?? RequestLine.none, line.status.code)
            operationName = "\(method) \(endpoint)"
            attributes["http.request.method"] = method
            attributes["http.route"] = endpoint
            attributes["http.response.status_code"] = status
            if status >= 500 { setStatus(SpanStatus(code: .error)) }
        }
        end()
    }
}
