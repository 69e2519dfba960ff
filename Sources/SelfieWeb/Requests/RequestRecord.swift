import HTTPConnection
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization
import Traces

/// A request whose answer is known, until its end is counted and logged.
final class RequestRecord: Sendable {
    private let log: RequestLogMiddleware
    private let request: HTTPRequest
    private let status: HTTPResponse.Status
    private let context: ServiceRequestContext
    private let start: NIODeadline
    private let timeOut: HandlerTimeOut?
    private let span: RecordedSpan?
    private let hasEnded = Atomic(false)

    /// The router's name for an unknown path.
    private static let noEndpoint = "NotFound"

    init(
        _ log: RequestLogMiddleware,
        request: HTTPRequest,
        status: HTTPResponse.Status,
        context: ServiceRequestContext,
        start: NIODeadline,
        timeOut: HandlerTimeOut?,
        span: RecordedSpan?
    ) {
        self.log = log
        self.request = request
        self.status = status
        self.context = context
        self.start = start
        self.timeOut = timeOut
        self.span = span
    }

    /// An answer whose body was not finished was broken off.
    deinit {
        if !hasEnded.load(ordering: .relaxed) { note(context.notes.contents.sentByteCount, isBrokenOff: true) }
    }

    /// The answer is complete, with a body of this length, or as long as what was written.
    func end(byteCount: Int?) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        note(byteCount ?? context.notes.contents.sentByteCount, isBrokenOff: false)
    }

    private func note(_ byteCount: Int, isBrokenOff: Bool) {
        let duration = NIODeadline.now() - start
        let isReplaced = timeOut?.hasPassed ?? false
        let line = RequestLine(
            method: request.method,
            endpoint: endpoint,
            status: isReplaced ? .serviceUnavailable : status,
            duration: duration,
            byteCount: isReplaced ? 0 : byteCount,
            network: log.addresses.network(headers: request.headerFields, socket: context.channel.remoteAddress)
        )
        log.metrics.ended(line)
        span?.finish(line)
        var metadata = line.metadata
        let notes = context.notes.contents
        if let userID = notes.userID { metadata["user"] = .stringConvertible(userID) }
        if let failure = notes.failure { metadata["error"] = .string(failure) }
        if let reason = notes.undecryptablePassword { metadata["undecryptable_password"] = .string(reason) }
        if isBrokenOff { metadata["broken_off"] = .stringConvertible(true) }
        context.logger.log(level: level(of: line), "request", metadata: metadata)
    }

    private var endpoint: String? {
        context.endpointPath.flatMap { $0 == Self.noEndpoint ? nil : $0 }
    }

    /// Probes come every second or so, and what they find is logged when it changes.
    private func level(of line: RequestLine) -> Logger.Level {
        if context.notes.contents.failure != nil { return .error }
        return line.endpoint.map(log.quietEndpoints.contains) ?? false ? .debug : .info
    }
}
