import NIOCore
import NIOHTTP1

/// Decides when a connection has waited long enough, and whether it closes or stays open.
///
/// It does no I/O.
struct ConnectionStateMachine {
    enum Phase: Equatable {
        /// Between requests.
        case idle(since: NIODeadline)
        /// A request's header is arriving.
        case readingHeader(since: NIODeadline)
        /// A request's body is arriving.
        case readingBody(since: NIODeadline, bytes: Int)
        /// A whole request has arrived and its answer is not written yet.
        case responding
        /// The last answer is written, but perhaps not sent. What still arrives is dropped.
        case lingering(since: NIODeadline, isSent: Bool)
    }

    /// A request, until it is answered.
    struct Exchange {
        let requestID: String
        let method: HTTPMethod
        /// Whether all of the request has arrived.
        fileprivate(set) var isWhole = false
        /// Whether its handler has said that it changes something.
        fileprivate(set) var isMarkedUnsafe = false

        /// Whether it only reads, so that it may be ended at any point.
        fileprivate var isSafe: Bool { !isMarkedUnsafe && (method == .GET || method == .HEAD) }
    }

    private let limits: ConnectionLimits
    private(set) var phase: Phase
    /// The requests that are not answered yet, in the order in which they came.
    private(set) var exchanges = CircularBuffer<Exchange>(initialCapacity: 1)
    private var isClosing = false
    /// Whether a byte of a request has ever arrived.
    private var hasBegun = false
    /// Since when the server shuts down, while the first request may still be on its way.
    private var quiescingSince: NIODeadline?
    private var expectsContinue = false
    private var inputClosedSince: NIODeadline?
    private var bodyHasFailed = false
    /// Whether an answer has said that the connection ends with it.
    private var hasSaidClose = false
    /// Whether further bytes are dropped.
    private(set) var isDropping = false
    /// Whether something came that is not HTTP.
    private var hasFailedToParse = false
    /// Whether an answer has begun and is not written yet.
    private var isAnswering = false
    /// When the client began to wait for an answer; nil when it does not wait.
    private var waitingSince: NIODeadline?
    /// When the last bytes of a request came.
    private var lastArrival: NIODeadline
    /// When the server stopped to read a body; nil while it reads.
    private var stalledSince: NIODeadline?
    /// Whether a request took too long to be answered; the rest of its answer is dropped.
    private(set) var hasTimedOut = false
    private var body = BodyTime(announcedBytes: nil)
    /// When the limits were last checked.
    private var lastTick: NIODeadline
    /// How much the client had taken when it last made progress; nil while there is nothing to take.
    private var lastTaking: (time: NIODeadline, bytes: Int)?

    init(limits: ConnectionLimits, now: NIODeadline) {
        self.limits = limits
        phase = .idle(since: now)
        lastArrival = now
        lastTick = now
    }

    var isLingering: Bool {
        if case .lingering = phase { true } else { false }
    }

    /// Whether a request is arriving or being answered.
    private var isBusy: Bool {
        if case .readingHeader = phase { return true }
        return !exchanges.isEmpty
    }

    mutating func bytesRead(now: NIODeadline) {
        hasBegun = true
        if case .idle = phase { phase = .readingHeader(since: now) }
    }

    /// Whether to answer a request that begins.
    ///
    /// After an answer with `Connection: close` it is dropped: the client sends it again over another connection. So is
    /// one too many that came in one piece with the end of a body in chunks.
    mutating func takesRequest() -> Bool {
        if exchanges.count >= limits.maxWaitingRequests { (isClosing, isDropping) = (true, true) }
        isDropping = isDropping || isLingering || hasSaidClose
        return !isDropping
    }

    mutating func requestHead(
        _ exchange: Exchange,
        isKeepAlive: Bool,
        expectsContinue: Bool,
        bodyLength: Int? = nil,
        now: NIODeadline
    ) {
        hasBegun = true
        exchanges.append(exchange)
        body = BodyTime(announcedBytes: bodyLength)
        isClosing = isClosing || !isKeepAlive
        self.expectsContinue = expectsContinue
        (lastArrival, stalledSince) = (now, nil)
        phase = .readingBody(since: now, bytes: 0)
    }

    mutating func requestBody(bytes: Int, now: NIODeadline) {
        guard case .readingBody(let since, let count) = phase else { return }
        _ = takesContinue()
        lastArrival = now
        body.arrived(bytes: bytes)
        phase = .readingBody(since: since, bytes: count + bytes)
    }

    mutating func requestEnd(now: NIODeadline) {
        guard case .readingBody = phase else { return }
        guard let last = exchanges.indices.last else { return phase = .idle(since: now) }
        phase = .responding
        exchanges[last].isWhole = true
        // The last bytes may have waited for as long as the server did not read.
        if exchanges.count == 1, !isAnswering { waitingSince = stalledSince ?? now }
    }

    /// The request that is being answered changes something, whatever its method says.
    mutating func markRequestUnsafe() {
        if !exchanges.isEmpty { exchanges[exchanges.startIndex].isMarkedUnsafe = true }
    }

    /// Whether the client waits for `100 Continue`.
    ///
    /// True once for each request.
    mutating func takesContinue() -> Bool {
        guard expectsContinue else { return false }
        expectsContinue = false
        stalledSince = nil
        return true
    }

    /// Whether the answer that begins must say that the connection ends with it.
    ///
    /// A body that has not arrived may be of any size. A new connection costs less than reading and dropping it.
    mutating func responseHead() -> Bool {
        isAnswering = true
        waitingSince = nil
        guard exchanges.count == 1 else { return false }
        if case .readingBody = phase { isClosing = true }
        hasSaidClose = hasSaidClose || isClosing
        return isClosing
    }

    mutating func responseEnd(now: NIODeadline) -> ResponseEndAction {
        _ = exchanges.popFirst()
        isAnswering = false
        // The handler of the next request could not begin before.
        (lastArrival, stalledSince) = (now, nil)
        waitingSince = exchanges.first?.isWhole == true ? now : nil
        if isClosing, exchanges.isEmpty {
            phase = .lingering(since: now, isSent: false)
            return .linger
        }
        if case .responding = phase, exchanges.isEmpty { phase = .idle(since: now) }
        return .keep
    }

    /// The connection itself has refused what arrived, and ends after that.
    mutating func refused(now: NIODeadline) {
        isClosing = true
        exchanges.removeAll()
        waitingSince = nil
        phase = .lingering(since: now, isSent: false)
    }

    /// The last answer is sent.
    ///
    /// The time for what the client still sends begins.
    mutating func outputClosed(now: NIODeadline) {
        if isLingering { phase = .lingering(since: now, isSent: true) }
    }

    mutating func parserError() -> ParserErrorAction {
        isClosing = true
        hasFailedToParse = true
        if case .responding = phase { isDropping = true }
        return switch phase {
        case .idle, .readingHeader: .refuse
        case .readingBody: .failBody
        case .responding: .drop
        case .lingering: .close
        }
    }

    /// Whether all further bytes are dropped.
    var discardsInput: Bool { isLingering || isDropping || hasTimedOut || hasFailedToParse }

    /// Whether another request may be parsed.
    var mayParse: Bool {
        if case .readingBody = phase { return true }
        return exchanges.count < limits.maxWaitingRequests
    }

    /// The rest of the body that is arriving; nil when there is none.
    var arrivingBody: ArrivingBody? {
        guard case .readingBody = phase else { return nil }
        return body.arriving
    }

    /// The server is shutting down; true when the connection can be closed at once.
    ///
    /// A proxy that has just connected sends its request next. It may get no answer otherwise, and must not send a POST again.
    mutating func quiesce(now: NIODeadline) -> Bool {
        isClosing = true
        guard hasBegun || isLingering else {
            quiescingSince = quiescingSince ?? now
            return false
        }
        return !isBusy
    }

    /// The client has closed its sending side, or the connection.
    mutating func inputClosed(now: NIODeadline) {
        inputClosedSince = inputClosedSince ?? now
    }

    /// Whether the present request may be ended when the connection has ended.
    var isAbandonable: Bool {
        if case .responding = phase { exchanges.allSatisfy(\.isSafe) } else { hasTimedOut }
    }

    /// Notes how many bytes the socket has taken since the connection began, and whether that is all that was written.
    mutating func socketTook(bytes: Int, isAll: Bool, now: NIODeadline) {
        guard !isAll else { return lastTaking = nil }
        if let lastTaking, bytes - lastTaking.bytes < limits.minWrittenBytesPerTimeout { return }
        lastTaking = (now, bytes)
    }

    /// Checks the limits.
    ///
    /// A read is pending when the server has asked the socket for more bytes, and so waits for the client.
    mutating func tick(now: NIODeadline, isReadPending: Bool) -> TimeAction {
        defer { lastTick = now }
        if let lastTaking, now - lastTaking.time >= limits.writeTimeout { return .close }
        if lastTaking != nil {
            // A client that has not taken one answer delays the next one itself.
            if waitingSince != nil { waitingSince = now }
            (lastArrival, stalledSince) = (now, nil)
        }
        if let waitingSince, now - waitingSince >= limits.answerTimeout { return timeOut() }
        switch phase {
        case .idle(let since):
            if let quiescingSince, now - quiescingSince >= limits.firstRequestGrace { return .close }
            return now - since >= limits.idleTimeout ? .close : .none
        case .readingHeader(let since): return now - since >= limits.headerTimeout ? .refuse : .none
        case .lingering(let since, let isSent):
            return isSent && now - since >= limits.lingerTimeout ? .close : .none
        case .responding:
            // A client that takes an answer has not left.
            guard isAbandonable, !isAnswering, let inputClosedSince else { return .none }
            return now - inputClosedSince >= limits.halfClosedTimeout ? .abandon : .none
        case .readingBody(let since, let bytes):
            // A client that waits for `100 Continue` waits for the server, too.
            guard isReadPending, !expectsContinue else {
                stalledSince = bytes > 0 ? lastArrival : stalledSince ?? lastArrival
                phase = .readingBody(since: now, bytes: 0)
                guard let stalledSince, !isAnswering else { return .none }
                return now - stalledSince >= limits.answerTimeout ? timeOut() : .none
            }
            stalledSince = nil
            if body.isOver(waited: now - lastTick, limits) {
                defer { bodyHasFailed = true }
                return bodyHasFailed ? .close : .failBody
            }
            guard now - since >= limits.bodyWindow else { return .none }
            phase = .readingBody(since: now, bytes: 0)
            guard bytes < limits.minBodyBytesPerWindow else { return .none }
            // After a second failure the reader has ended or is stuck, so it will not answer.
            defer { bodyHasFailed = true }
            return bodyHasFailed ? .close : .failBody
        }
    }

    private mutating func timeOut() -> TimeAction {
        hasTimedOut = true
        return .timeOut
    }
}
