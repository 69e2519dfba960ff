import Synchronization

/// Facts about a request from its handlers, for its line in the log.
final class RequestNotes: Sendable {
    struct Contents: Sendable {
        var userID: Int?
        /// Whether the answer's body is still made, or sent, while the client reads it.
        var streamsAnswer = false
        /// How many bytes of such a body were handed over.
        var sentByteCount = 0
        /// Why the request failed, when that is the service's fault, without secrets.
        var failure: String?
        /// Why a password could not be decrypted, in one of a few words.
        var undecryptablePassword: String?
    }

    private let state = Mutex(Contents())

    var contents: Contents { state.withLock { $0 } }

    func note(userID: Int) {
        state.withLock { $0.userID = userID }
    }

    func note(failure: String) {
        state.withLock { $0.failure = failure }
    }

    func note(undecryptablePassword reason: String) {
        state.withLock { $0.undecryptablePassword = reason }
    }

    func noteSent(_ byteCount: Int) {
        state.withLock { $0.sentByteCount += byteCount }
    }

    func noteStreaming() {
        state.withLock { $0.streamsAnswer = true }
    }
}
