import Concurrency
import NIOCore
import Synchronization

/// One attempt of a call: the state that its tasks share, and its time-out.
///
/// It alone holds the body. AsyncHTTPClient never releases a request when an early answer stops its body. Each such
/// upload would keep its file and its disk space.
final class Attempt: Sendable {
    private let clock: any MonotonicClock
    private let state: Mutex<State>

    private struct State {
        var body: S3Body?
        var lastSignOfLife: ContinuousClock.Instant
        var sourceError: (any Error)?
        var hasBegun = false
        /// Whether AsyncHTTPClient may see the body's end; nil until that is known.
        var mayEndBody: Bool?
        var waiter: CheckedContinuation<Bool, Never>?
    }

    /// Whether the body is larger than the sockets' buffers.
    ///
    /// A store can refuse such a body while it is sent.
    let hasLargeBody: Bool

    private static let socketBytes = 64 * 1024

    init(body: S3Body? = nil, clock: any MonotonicClock) {
        self.clock = clock
        hasLargeBody = (body?.length ?? 0) > Self.socketBytes
        state = Mutex(State(body: body, lastSignOfLife: clock.now))
    }

    /// When the store last took a piece of the body, or sent one of its answer.
    var lastSignOfLife: ContinuousClock.Instant {
        state.withLock { $0.lastSignOfLife }
    }

    /// The source's own error, kept apart from those of the network.
    var sourceError: (any Error)? {
        state.withLock { $0.sourceError }
    }

    /// Whether any part of the body was requested.
    var hasBegun: Bool {
        state.withLock { $0.hasBegun }
    }

    func noteSignOfLife() {
        state.withLock { $0.lastSignOfLife = clock.now }
    }

    /// Runs the operation, and cancels it when the store is silent for too long, or when it takes too long as a whole.
    ///
    /// AsyncHTTPClient's own timeouts do not suffice. Its read timeout starts when the request's end is written, so it
    /// never runs during an upload. It runs on while a slow reader of ours leaves the answer's bytes waiting. Its write
    /// timeout is off while the socket takes nothing, and that is how a store hangs. Its deadline ends with the answer's
    /// head.
    ///
    /// - Parameters:
    ///   - silence: The longest time without a sign of life.
    ///   - end: When everything must be over.
    ///   - operation: Must end soon when its task is cancelled.
    /// - Returns: What the operation returned.
    /// - Throws: `CancellationError`, ``S3NoAnswer/silent``, ``S3NoAnswer/overdue`` or the operation's error.
    func run<Success: Sendable>(
        silence: Duration,
        end: ContinuousClock.Instant,
        _ operation: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        try await race(operation) { [self] in
            while true {
                // Before the last activity is read, so that activity in between counts.
                let now = clock.now
                let quietUntil = lastSignOfLife + silence
                if now >= end { return S3NoAnswer.overdue }
                if now >= quietUntil { return S3NoAnswer.silent }
                try await clock.sleep(until: min(quietUntil, end), tolerance: nil)
            }
        }
    }

    /// Reads a range of the body.
    ///
    /// - Throws: The source's error, ``S3BodyLengthMismatch``, or `CancellationError` after ``end()``.
    func readBody(_ range: Range<Int>) async throws -> ByteBuffer {
        let body = state.withLock { state in
            state.hasBegun = true
            return state.body
        }
        guard let body else { throw CancellationError() }
        do {
            let bytes = try await body.read(range)
            guard bytes.readableBytes == range.count else { throw S3BodyLengthMismatch() }
            noteSignOfLife()
            return bytes
        } catch {
            // The end of an attempt cancels its source, which is then not the cause.
            if !(error is CancellationError) { state.withLock { $0.sourceError = error } }
            throw error
        }
    }

    /// Waits until AsyncHTTPClient may see the body's end.
    ///
    /// A refusal may come before the body was sent. AsyncHTTPClient then drops the rest of the body. If it saw the body's
    /// end, it would miss that rest, and close the connection with the refusal's document unread. The server knows the
    /// body's length, so it never waits for the end.
    ///
    /// - Throws: `CancellationError` after a refusal, or when the attempt is over.
    func waitForEndOfBody() async throws {
        let mayEnd = await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.mayEndBody == nil { state.waiter = continuation }
                return state.mayEndBody
            }
            if let known { continuation.resume(returning: known) }
        }
        guard mayEnd else { throw CancellationError() }
    }

    /// Notes that the store has taken the request, with all of its body.
    func noteSuccess() {
        decideEnd(true)
    }

    /// Releases the body when the attempt is over.
    func end() {
        state.withLock { $0.body = nil }
        decideEnd(false)
    }

    private func decideEnd(_ mayEnd: Bool) {
        let waiter = state.withLock { state in
            if state.mayEndBody == nil { state.mayEndBody = mayEnd }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: mayEnd)
    }
}
