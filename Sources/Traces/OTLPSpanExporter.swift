package import Curl
import FoundationEssentials
package import Logging
import NIOCore
import NIOHTTP1
import Outages
import Synchronization

/// Sends spans to a collector, by OTLP over HTTP as JSON.
///
/// Spans wait in memory until ``send()`` is called. Those that find no room are dropped.
///
/// Source: OpenTelemetry, "OTLP Specification 1.x", section "OTLP/HTTP".
package final class OTLPSpanExporter: SpanExporter {
    private struct State {
        var waiting: [FinishedSpan] = []
        var droppedCount = 0
    }

    private let url: String
    private let service: (name: String, version: String)
    private let curl: CurlClient
    private let logger: Logger
    private let collector: OutageReport
    private let state = Mutex(State())

    /// How many spans may wait.
    static let maxWaiting = 4_096
    private static let maxBatch = 512
    private static let timeout: Duration = .seconds(5)

    /// - Parameters:
    ///   - endpoint: The collector's URL, such as `http://127.0.0.1:4318`.
    ///   - service: The name and the version of the service.
    ///   - curl: Sends them.
    ///   - logger: Gets a line when spans are lost, and when the collector takes them again.
    package init(endpoint: String, service: (name: String, version: String), curl: CurlClient, logger: Logger) {
        url = "\(endpoint)/v1/traces"
        self.service = service
        self.curl = curl
        self.logger = logger
        collector = OutageReport(
            failing: "spans can't be sent, and are lost",
            over: "spans are taken again",
            logger: logger
        )
    }

    package func export(_ span: FinishedSpan) {
        state.withLock { state in
            if state.waiting.count < Self.maxWaiting { state.waiting.append(span) } else { state.droppedCount += 1 }
        }
    }

    /// Sends all that waits, batch by batch, until one fails.
    package func send() async {
        while true {
            let batch = state.withLock { state in
                let batch = Array(state.waiting.prefix(Self.maxBatch))
                state.waiting.removeFirst(batch.count)
                return batch
            }
            guard !batch.isEmpty else { return noteDropped() }
            do {
                try await send(batch)
                collector.succeeded()
            } catch {
                state.withLock { $0.droppedCount += batch.count }
                return collector.failed("\(error)")
            }
        }
    }

    private func send(_ batch: [FinishedSpan]) async throws {
        var request = CurlRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        let document = OTLPDocument(batch, serviceName: service.name, version: service.version)
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(document)))
        let status = Int(try await curl.answer(to: request, within: Self.timeout).status.code)
        guard (200..<300).contains(status) else { throw Refusal(status: status) }
    }

    private func noteDropped() {
        let count = state.withLock { state in
            defer { state.droppedCount = 0 }
            return state.droppedCount
        }
        if count > 0 { logger.warning("spans were lost", metadata: ["count": .stringConvertible(count)]) }
    }

    private struct Refusal: Error, CustomStringConvertible {
        let status: Int

        var description: String { "the collector answered \(status)" }
    }
}
