import ConnectionTestSupport
import Foundation
import NIOCore
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Traces", .timeLimit(.minutes(2)))
struct TraceTests {
    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let header = "00-\(traceID)-00f067aa0ba902b7-01"

    @Test("A client's trace continues in the log and in requests to the bucket, and is recorded only if wanted")
    func passedOn() async throws {
        let reply = ScriptedServer.Reply.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: \"x\"\r\n\r\n")
        try await ScriptedServer.with(Array(repeating: reply, count: 100)) { server in
            let bucket = [
                "S3_BUCKET_NAME": "photos", "AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_ENDPOINT_URL_S3": server.endpoint, "OBJECTS_PATH": "",
            ]
            try await TestService.run(settings: bucket, adjust: { $0.worksInBackground = false }) { service in
                let token = try await service.makeToken()
                _ = try await service.upload(token: token, headers: [("traceparent", Self.header)])
                _ = try await service.upload(token: token, headers: [("traceparent", "nonsense")])
                let puts = server.received.filter { $0.line.hasPrefix("PUT ") }
                #expect(puts.first?.headers["traceparent"] == Self.header)
                #expect(puts.count > 1 && puts.last?.headers["traceparent"] == nil)
                // The store checks the signature without it.
                #expect(puts.first?.headers["authorization"]?.contains("traceparent") == false)
                let lines = service.log.entries.filter { $0.contains("endpoint=/api/upload_photo") }
                #expect(lines.map { $0.contains("trace_id=\(Self.traceID)") } == [true, false])
                #expect(!service.log.text.contains("info span"))
            }
        }
    }

    @Test("Spans of a request, its statements and its calls to the store are of one trace")
    func recorded() async throws {
        try await TestService.run(settings: ["OTEL_TRACES_EXPORTER": "console"]) { service in
            let token = try await service.makeToken()
            _ = try await service.upload(token: token, headers: [("traceparent", Self.header)])
            let spans = service.log.entries.filter { $0.hasPrefix("info span") && $0.contains(Self.traceID) }
            let request = try #require(spans.first { $0.contains("name=POST /api/upload_photo") })
            #expect(request.contains("parent_id=00f067aa0ba902b7"))
            let id = try #require(request.firstMatch(of: /span_id=([0-9a-f]{16})/)?.output.1)
            for name in ["store put", "postgres "] {
                #expect(spans.contains { $0.contains("name=\(name)") && $0.contains("parent_id=\(id)") }, "\(name)")
            }
        }
    }

    @Test("A collector gets the spans of a service, the last ones at its end")
    func collected() async throws {
        let reply = ScriptedServer.Reply.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        try await ScriptedServer.with(Array(repeating: reply, count: 100)) { server in
            let settings = ["OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": server.endpoint]
            @Sendable func received(_ text: String) -> Bool {
                server.received.contains { String(buffer: $0.body).contains(text) }
            }
            try await TestService.run(settings: settings) { service in
                let token = try await service.makeToken()
                _ = try await service.list(token: token)
                try await poll("the list's span has come") { received("get_photos") }
                _ = try await service.send("GET", "/livez")
            }
            #expect(received("livez"))
        }
    }
}
