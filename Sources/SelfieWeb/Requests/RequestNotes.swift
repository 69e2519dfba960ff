import Synchronization

/// What is learned about a request on its way, for its line in the log.
final class RequestNotes: Sendable {
    private struct State {
        var userID: Int?
        var streamsAnswer = false
        var sentByteCount = 0
        var failure: String?
        var undecryptablePassword: String?
    }

    private let state = Mutex(State())

    /// The user, as soon as somebody knows.
    var userID: Int? { state.withLock { $0.userID } }

    /// Whether the answer's body is still made, or sent, while the client reads it.
    var streamsAnswer: Bool { state.withLock { $0.streamsAnswer } }

    /// Why the request failed, when that is the service's fault.
    var failure: String? { state.withLock { $0.failure } }

    /// Notes why the request fails.
    ///
    /// - Parameter failure: A text without secrets.
    func note(failure: String) {
        state.withLock { $0.failure = failure }
    }

    /// Why a password could not be decrypted.
    var undecryptablePassword: String? { state.withLock { $0.undecryptablePassword } }

    /// Notes why a password can't be decrypted.
    ///
    /// - Parameter reason: One of a few words.
    func note(undecryptablePassword reason: String) {
        state.withLock { $0.undecryptablePassword = reason }
    }

    /// How many bytes of a body that is made while the client reads were handed over.
    var sentByteCount: Int { state.withLock { $0.sentByteCount } }

    /// Notes that bytes of such a body were handed over.
    func noteSent(_ byteCount: Int) {
        state.withLock { $0.sentByteCount += byteCount }
    }

    /// Notes whose request it is.
    func note(userID: Int) {
        state.withLock { $0.userID = userID }
    }

    /// Notes that the answer is not complete when its handler ends.
    func noteStreaming() {
        state.withLock { $0.streamsAnswer = true }
    }
}
