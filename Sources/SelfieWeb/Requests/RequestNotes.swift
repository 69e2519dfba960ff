import Synchronization

/// What is learned about a request on its way, for its line in the log.
final class RequestNotes: Sendable {
    private struct State {
        var userID: Int?
        var streamsAnswer = false
    }

    private let state = Mutex(State())

    /// The user, as soon as somebody knows.
    var userID: Int? { state.withLock { $0.userID } }

    /// Whether the answer's body is still made, or sent, while the client reads it.
    var streamsAnswer: Bool { state.withLock { $0.streamsAnswer } }

    /// Notes whose request it is.
    func note(userID: Int) {
        state.withLock { $0.userID = userID }
    }

    /// Notes that the answer is not complete when its handler ends.
    func noteStreaming() {
        state.withLock { $0.streamsAnswer = true }
    }
}
