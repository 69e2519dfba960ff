import ConnectionTestSupport
import Curl
import Foundation
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import Traces

@Suite("Spans", .timeLimit(.minutes(1)))
struct SpanTests {
    private final class Spans: SpanExporter {
        private let spans = Mutex<[FinishedSpan]>([])

        var finished: [FinishedSpan] { spans.withLock { $0 } }

        func export(_ span: FinishedSpan) {
            spans.withLock { $0.append(span) }
        }
    }

    private static let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private func context(_ header: String?) -> ServiceContext {
        var context = ServiceContext.topLevel
        context.traceContext = header.flatMap { TraceContext(header: $0) }
        return context
    }

    @Test("Spans within each other are of one trace, each the parent of the next, and end once")
    func nesting() throws {
        let spans = Spans()
        let tracer = SpanTracer(exporter: spans)
        let outer = tracer.startSpan("outer", context: context(Self.header), ofKind: .server)
        let inner = tracer.startSpan("inner", context: outer.context, ofKind: .client)
        inner.attributes["a"] = 1
        inner.setStatus(SpanStatus(code: .error))
        inner.end()
        inner.end()
        outer.operationName = "renamed"
        outer.end()
        #expect(spans.finished.map(\.name) == ["inner", "renamed"])
        let (first, second) = (spans.finished[0], spans.finished[1])
        #expect(second.parentID == "00f067aa0ba902b7" && first.parentID == second.trace.spanID)
        #expect(Set(spans.finished.map(\.trace.traceID)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
        #expect(first.isError && !second.isError)
        #expect(first.end >= first.start && second.end >= first.end)
    }

    @Test("What others do not want recorded is passed on and not recorded; so is all of it without an exporter")
    func unsampled() {
        let spans = Spans()
        let unsampled = String(Self.header.dropLast()) + "0"
        let span = SpanTracer(exporter: spans).startSpan("x", context: context(unsampled))
        #expect(!span.isRecording)
        #expect(span.context.traceContext?.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        span.end()
        #expect(spans.finished.isEmpty)
        let passed = SpanTracer(exporter: nil).startSpan("x", context: context(Self.header))
        #expect(passed.context.traceContext?.header == Self.header)
        #expect(SpanTracer(exporter: nil).startSpan("x", context: context(nil)).context.traceContext == nil)
    }

    @Test(
        "As many new traces are recorded as is wanted",
        arguments: [(0.0, 0...0), (1.0, 500...500), (0.5, 150...350)]
    )
    func ratio(ratio: Double, expected: ClosedRange<Int>) {
        let spans = Spans()
        let tracer = SpanTracer(exporter: spans, sampleRatio: ratio)
        for _ in 0..<500 { tracer.startSpan("x", context: context(nil)).end() }
        #expect(expected.contains(spans.finished.count))
    }

    @Test("A collector gets spans as OTLP's JSON; one that refuses costs spans and one line, and so does too much")
    func collector() async throws {
        let log = TestLog()
        let replies: [ScriptedServer.Reply] = ["200 OK", "500 No", "500 No", "200 OK"].map {
            .send("HTTP/1.1 \($0)\r\nContent-Length: 2\r\n\r\n{}")
        }
        try await ScriptedServer.with(replies) { server in
            let exporter = OTLPSpanExporter(
                endpoint: server.endpoint,
                service: ("selfie", "1.2.3"),
                curl: .shared,
                logger: log.logger(level: .info)
            )
            let tracer = SpanTracer(exporter: exporter)
            let span = tracer.startSpan("GET /", context: context(Self.header), ofKind: .server)
            span.attributes["http.response.status_code"] = 200
            span.attributes["http.route"] = "/"
            span.end()
            for _ in 0..<3 {
                await exporter.send()
                tracer.startSpan("later", context: context(nil)).end()
            }
            #expect(log.entries.count == 1 && log.entries[0].contains("spans can't be sent"))
            for _ in 0..<5_000 { tracer.startSpan("many", context: context(nil)).end() }
            await exporter.send()
            #expect(log.text.contains("spans are taken again"))

            let request = try #require(server.received.first)
            #expect(request.line == "POST /v1/traces HTTP/1.1")
            #expect(request.headers["content-type"] == "application/json")
            let document = try JSONSerialization.jsonObject(with: Data(request.body.readableBytesView)) as? NSDictionary
            let resource = try #require((document?["resourceSpans"] as? [[String: Any]])?.first)
            let attributes = (resource["resource"] as? [String: Any])?["attributes"] as? [[String: Any]]
            #expect(attributes?.count == 2)
            let sent = try #require(
                ((resource["scopeSpans"] as? [[String: Any]])?.first?["spans"] as? [[String: Any]])?.first
            )
            #expect(sent["traceId"] as? String == "4bf92f3577b34da6a3ce929d0e0e4736")
            #expect(sent["parentSpanId"] as? String == "00f067aa0ba902b7")
            #expect((sent["spanId"] as? String)?.count == 16)
            #expect(sent["name"] as? String == "GET /" && sent["kind"] as? Int == 2)
            #expect((sent["startTimeUnixNano"] as? String)?.count == 19)
            #expect((sent["attributes"] as? [[String: Any]])?.count == 2)
        }
    }
}
