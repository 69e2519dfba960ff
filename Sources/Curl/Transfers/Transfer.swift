import Concurrency
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// One request and its answer: what the thread that calls libcurl and the tasks that wait have in common.
///
/// The thread calls the functions of the first half, from libcurl's callbacks. None of them waits. Tasks are resumed
/// by ``wake()``, after libcurl has returned.
final class Transfer: Sendable {
    private struct State {
        var parser = ResponseHeadParser()
        /// The last reply to a mail.
        var reply: MailReply?
        /// What the next reply is for; nil for nothing that counts.
        var command: MailReply.Command? = .connection
        var head: ResponseHead?
        var received = ByteBuffer()
        /// The end of the answer; nil until then.
        var end: Result<Void, CurlError>?
        var reader: CheckedContinuation<Void, Never>?

        /// The piece of the request's body that is being sent.
        var outgoing: ByteBuffer?
        var isOutgoingComplete = false
        var hasSentBody = false
        var sender: CheckedContinuation<Void, Never>?
        /// Why libcurl must give up, if that was decided here.
        var failure: CurlError?

        var isReceivingPaused = false
        var isSendingPaused = false
        var lastProgress: ContinuousClock.Instant
        /// When bytes of the answer last came, by the system's clock.
        var lastArrival = ContinuousClock.now
        /// Whether the head has reached its task, which now waits for the body.
        var isHeadTaken = false

        /// Whether there is something for a task that waits for the answer.
        var hasNews: Bool {
            end != nil || (isHeadTaken ? received.readableBytes > 0 : head != nil)
        }

        /// Whether a task may pass another piece of the body.
        var hasRoom: Bool { end != nil || outgoing == nil }
    }

    let request: CurlRequest
    let deadlines: CurlDeadlines
    private let clock: any MonotonicClock
    private let state: NIOLockedValueBox<State>

    /// The most bytes of an answer that wait for their reader.
    ///
    /// Each slow client of this process holds about two of them. Fewer and larger pieces are faster.
    private static let maxWaitingBytes = 128 * 1_024

    init(_ request: CurlRequest, deadlines: CurlDeadlines, clock: any MonotonicClock) {
        (self.request, self.deadlines, self.clock) = (request, deadlines, clock)
        var state = State(lastProgress: clock.now)
        // A body in memory is there from the start, so that libcurl never pauses for it.
        if let bytes = request.body?.bytes { (state.outgoing, state.isOutgoingComplete) = (bytes, true) }
        if request.body == nil { state.isOutgoingComplete = true }
        self.state = NIOLockedValueBox(state)
    }

    // MARK: - For libcurl's thread

    /// What a callback returns to libcurl.
    enum Reply {
        case taken(Int)
        case pause
        case abort
    }

    /// Takes a line of the answer's head.
    func receive(headLine line: UnsafeRawBufferPointer) -> Reply {
        state.withLockedValue { state in
            if state.failure != nil || state.end != nil { return .abort }
            state.lastProgress = clock.now
            if request.mail != nil {
                state.reply = state.command.flatMap { MailReply($0, line: line) } ?? state.reply
                return .taken(line.count)
            }
            switch state.parser.read(line: line) {
            case .more: break
            case .head(let head):
                state.head = head
                // libcurl sends no more of a body that was refused. It also waits for no more, unless it is paused.
                if head.status.code >= 300 { (state.outgoing, state.isOutgoingComplete) = (nil, true) }
            case .tooLarge: state.failure = .tooLarge
            case .malformed: state.failure = .notHTTP
            }
            return state.failure == nil ? .taken(line.count) : .abort
        }
    }

    /// Takes bytes of the answer's body.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Reply {
        state.withLockedValue { state in
            if state.failure != nil || state.end != nil { return .abort }
            guard state.received.readableBytes < Self.maxWaitingBytes else {
                state.isReceivingPaused = true
                return .pause
            }
            state.lastProgress = clock.now
            if state.received.capacity == 0, bytes.count >= Self.maxWaitingBytes / 16 {
                state.received.reserveCapacity(Self.maxWaitingBytes)
            }
            state.lastArrival = .now
            state.received.writeBytes(bytes)
            return .taken(bytes.count)
        }
    }

    /// Writes the next bytes of the request's body.
    func send(into buffer: UnsafeMutableRawBufferPointer) -> Reply {
        state.withLockedValue { state in
            if state.failure != nil || state.end != nil { return .abort }
            if let piece = state.outgoing {
                let count = min(buffer.count, piece.readableBytes)
                piece.withUnsafeReadableBytes { buffer.copyBytes(from: $0[..<count]) }
                state.outgoing?.moveReaderIndex(forwardBy: count)
                if count == piece.readableBytes { state.outgoing = nil }
                state.hasSentBody = true
                state.lastProgress = clock.now
                return .taken(count)
            }
            if state.isOutgoingComplete { return .taken(0) }
            state.isSendingPaused = true
            return .pause
        }
    }

    /// Begins the request's body anew, for a request that libcurl sends again.
    ///
    /// - Returns: Whether that can be done.
    func rewind() -> Bool {
        guard let bytes = request.body?.bytes else { return false }
        state.withLockedValue { $0.outgoing = bytes }
        return true
    }

    /// Notes that bytes have moved.
    func noteProgress() {
        state.withLockedValue { $0.lastProgress = clock.now }
    }

    /// The head is there, and bytes of the body are wanted.
    var isWaitingForBody: Bool {
        state.withLockedValue { $0.head != nil && !$0.isReceivingPaused }
    }

    /// When bytes of the answer last came, by the system's clock.
    var lastArrival: ContinuousClock.Instant { state.withLockedValue { $0.lastArrival } }

    /// Whether each direction can go on, where it was paused; nil if nothing changes.
    func resume() -> (receiving: Bool, sending: Bool)? {
        state.withLockedValue { state in
            let receives = state.isReceivingPaused && state.received.readableBytes < Self.maxWaitingBytes
            let sends =
                state.isSendingPaused
                && (state.outgoing != nil || state.isOutgoingComplete || state.failure != nil)
            guard receives || sends else { return nil }
            if receives { state.isReceivingPaused = false }
            if sends { state.isSendingPaused = false }
            return (!state.isReceivingPaused, !state.isSendingPaused)
        }
    }

    /// Notes a command of SMTP that libcurl has sent.
    func noteSent(command: UnsafeRawBufferPointer) {
        state.withLockedValue { $0.command = MailReply.Command(line: command) }
    }

    /// The last reply to a mail; nil before the first, and for a request by HTTP.
    var reply: MailReply? { state.withLockedValue { $0.reply } }

    /// The transfer is over.
    ///
    /// - Parameter failure: Why it ended early; nil after the whole answer.
    func finish(_ failure: CurlError?) {
        state.withLockedValue { state in
            guard state.end == nil else { return }
            let failure = state.failure ?? failure
            state.end = failure.map { .failure($0) } ?? .success(())
            state.outgoing = nil
        }
        wake()
    }

    /// Resumes the tasks that have something to do now.
    func wake() {
        let (reader, sender) = state.withLockedValue { state in
            var (reader, sender): (CheckedContinuation<Void, Never>?, CheckedContinuation<Void, Never>?)
            if state.hasNews { (reader, state.reader) = (state.reader, nil) }
            if state.hasRoom { (sender, state.sender) = (state.sender, nil) }
            return (reader, sender)
        }
        reader?.resume()
        sender?.resume()
    }

    // MARK: - For tasks

    /// When a byte last went either way, or the start.
    var lastProgress: ContinuousClock.Instant { state.withLockedValue { $0.lastProgress } }

    /// What the caller gets of an error: its own errors as they are, others with how far the transfer had come.
    func failure(of error: any Error) -> any Error {
        let reason = error is CancellationError ? CurlError.cancelled : error as? CurlError
        guard let reason else { return error }
        return state.withLockedValue { state in
            CurlFailure(reason: reason, lastProgress: state.lastProgress, hasSentBody: state.hasSentBody)
        }
    }

    var isOver: Bool { state.withLockedValue { $0.end != nil } }

    /// Whether the whole answer has come.
    var isComplete: Bool {
        state.withLockedValue { state in
            if case .success = state.end { true } else { false }
        }
    }

    /// Waits for the answer's head.
    func awaitHead() async throws(CurlError) -> ResponseHead {
        await waitForNews()
        let result: Result<ResponseHead, CurlError> = state.withLockedValue { state in
            if let head = state.head {
                state.isHeadTaken = true
                return .success(head)
            }
            guard case .failure(let error) = state.end else { return .failure(.cutOff) }
            return .failure(error)
        }
        return try result.get()
    }

    /// Waits for the end of a mail's transfer.
    func awaitReply() async throws(CurlError) -> MailReply {
        await waitForNews()
        let result: Result<MailReply, CurlError> = state.withLockedValue { state in
            guard case .failure(let error) = state.end else {
                return state.reply.map { .success($0) } ?? .failure(.cutOff)
            }
            return .failure(error)
        }
        return try result.get()
    }

    /// Waits for the next bytes of the body.
    ///
    /// - Returns: The bytes, and whether libcurl must be told to go on; nil at the end.
    func awaitBytes() async throws(CurlError) -> (bytes: ByteBuffer, mustResume: Bool)? {
        await waitForNews()
        let result: Result<(bytes: ByteBuffer, mustResume: Bool)?, CurlError> = state.withLockedValue { state in
            if case .failure(let error) = state.end {
                // What came before the failure is passed first. Nobody wants bytes after a cancellation.
                if state.received.readableBytes == 0 || error.isCancellation { return .failure(error) }
            }
            guard state.received.readableBytes > 0 else { return .success(nil) }
            let bytes = state.received
            state.received = ByteBuffer()
            return .success((bytes, state.isReceivingPaused))
        }
        return try result.get()
    }

    private func waitForNews() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasNews = state.withLockedValue { state in
                    precondition(state.reader == nil, "an answer is read by one task")
                    if !state.hasNews { state.reader = continuation }
                    return state.hasNews
                }
                if hasNews { continuation.resume() }
            }
        } onCancel: {
            finish(.cancelled)
        }
    }

    /// Passes the next piece of the request's body.
    ///
    /// - Returns: Whether libcurl must be told to go on.
    /// - Throws: ``BodyNotWanted``.
    func offer(_ piece: ByteBuffer) throws -> Bool {
        try state.withLockedValue { state in
            guard state.end == nil, !state.isOutgoingComplete else { throw BodyNotWanted() }
            if piece.readableBytes > 0 { state.outgoing = piece }
            return state.isSendingPaused
        }
    }

    /// Waits until there is room for another piece.
    func awaitRoom() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayGoOn = state.withLockedValue { state in
                    // Read once: the task may be cancelled at any moment.
                    let mayGoOn = state.hasRoom || Task.isCancelled
                    if !mayGoOn { state.sender = continuation }
                    return mayGoOn
                }
                if mayGoOn { continuation.resume() }
            }
        } onCancel: {
            state.withLockedValue { $0.sender.take() }?.resume()
        }
    }

    /// Notes that the body was passed as a whole.
    ///
    /// - Returns: Whether libcurl must be told to go on.
    func completeBody() -> Bool {
        state.withLockedValue { state in
            state.isOutgoingComplete = true
            return state.isSendingPaused
        }
    }
}

/// The transfer is over, or was refused: the rest of the request's body need not be read.
struct BodyNotWanted: Error {}
