import NIOCore
import Synchronization

/// What the tasks of one try share: the store's last sign of life, and the error of the body's source.
///
/// It alone holds the body. AsyncHTTPClient never lets go of a request when an early answer stops its body. Each such
/// upload would keep its file and its disk space.
final class Transfer: Sendable {
    private let time: S3Time
    private let state: Mutex<State>

    private struct State {
        var body: S3Body?
        var lastSignOfLife: ContinuousClock.Instant
        var sourceError: (any Error)?
        var hasBegun = false
        /// Whether the body's end may be told; nil until that is known.
        var mayEndBody: Bool?
        var waiter: CheckedContinuation<Bool, Never>?
    }

    /// Whether the body is larger than the sockets' buffers.
    ///
    /// A store can refuse such a body while it is sent.
    let hasLargeBody: Bool

    private static let socketBytes = 64 * 1024

    init(body: S3Body? = nil, time: S3Time) {
        self.time = time
        hasLargeBody = (body?.length ?? 0) > Self.socketBytes
        state = Mutex(State(body: body, lastSignOfLife: time.now()))
    }

    var lastSignOfLife: ContinuousClock.Instant {
        state.withLock { $0.lastSignOfLife }
    }

    /// The source's own error, kept apart from those of the network.
    var sourceError: (any Error)? {
        state.withLock { $0.sourceError }
    }

    /// Whether any of the body was asked for.
    var hasBegun: Bool {
        state.withLock { $0.hasBegun }
    }

    func noteSignOfLife() {
        state.withLock { $0.lastSignOfLife = time.now() }
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
            // Whoever ends the try cancels its source, which is not at fault then.
            if !(error is CancellationError) { state.withLock { $0.sourceError = error } }
            throw error
        }
    }

    /// Waits until the body's end may be told.
    ///
    /// A refusal may come before the body was sent. AsyncHTTPClient then drops the rest of the body. When it is told that
    /// the body has ended, it misses that rest, and closes the connection with the refusal's document unread. The server
    /// knows the body's length, so it never waits for the end.
    ///
    /// - Throws: `CancellationError` after a refusal, or when the try is over.
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

    /// Lets go of the body when the try is over.
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
