import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization
import Traces

/// A request whose answer is known, until its end is counted and logged.
///
/// The endpoint is the pattern that matched, never the URL. A URL may hold ids, passwords and signatures.
final class RequestRecord: Sendable {
    private let request: HTTPRequest
    private let status: HTTPResponse.Status
    private let context: ServiceRequestContext
    private let start: NIODeadline
    private let addresses: ClientAddressReader
    private let metrics: RequestMetrics
    private let quietEndpoints: Set<String>
    private let span: RecordedSpan?
    private let writtenBytes = Atomic(0)
    private let hasEnded = Atomic(false)

    /// What the router calls a path that it does not have.
    private static let noEndpoint = "NotFound"

    init(
        request: HTTPRequest,
        status: HTTPResponse.Status,
        context: ServiceRequestContext,
        start: NIODeadline,
        addresses: ClientAddressReader,
        metrics: RequestMetrics,
        quietEndpoints: Set<String>,
        span: RecordedSpan?
    ) {
        self.request = request
        self.status = status
        self.context = context
        self.start = start
        self.addresses = addresses
        self.metrics = metrics
        self.quietEndpoints = quietEndpoints
        self.span = span
    }

    /// An answer whose body nobody finished was broken off.
    deinit {
        if !hasEnded.load(ordering: .relaxed) { note(writtenBytes.load(ordering: .relaxed), isBrokenOff: true) }
    }

    /// Some bytes of the body were handed over.
    func wrote(_ count: Int) {
        writtenBytes.add(count, ordering: .relaxed)
    }

    /// The answer is complete.
    ///
    /// - Parameter byteCount: The length of its body; nil for what was written.
    func end(byteCount: Int?) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        note(byteCount ?? writtenBytes.load(ordering: .relaxed), isBrokenOff: false)
    }

    private func note(_ byteCount: Int, isBrokenOff: Bool) {
        let duration = NIODeadline.now() - start
        metrics.ended(endpoint: endpoint, method: request.method, status: status, duration)
        span?.finish(method: request.method.rawValue, endpoint: endpoint, status: status.code)
        let tenths = (duration.nanoseconds + 50_000) / 100_000
        var metadata: Logger.Metadata = [
            "method": .string(request.method.rawValue),
            "endpoint": .string(endpoint),
            "status": .stringConvertible(status.code),
            "ms": .stringConvertible(Double(tenths) / 10),
            "bytes": .stringConvertible(byteCount),
            "network": .string(
                addresses.network(headers: request.headerFields, socket: context.channel.remoteAddress)
            ),
        ]
        if let userID = context.notes.userID { metadata["user"] = .stringConvertible(userID) }
        if isBrokenOff { metadata["broken_off"] = .stringConvertible(true) }
        context.logger.log(level: level, "request", metadata: metadata)
    }

    private var endpoint: String {
        guard let path = context.endpointPath, path != Self.noEndpoint else { return "none" }
        return path
    }

    /// Probes come every second or so, and say nothing while all is well.
    private var level: Logger.Level {
        quietEndpoints.contains(endpoint) && status.kind == .successful ? .debug : .info
    }
}
