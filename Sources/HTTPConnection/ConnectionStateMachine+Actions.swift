import NIOCore

/// What the state machine asks the connection to do.
extension ConnectionStateMachine {
    enum TimeAction: Equatable {
        case none
        case close
        /// Answer that the request was too slow, then close.
        case refuse
        /// Fail the body, so that its reader answers.
        case failBody
        /// Cancel the request that is being answered: its client has left.
        case abandon
        /// Answer, instead of the handler, that the service is not available; then close.
        case timeOut
    }

    enum ResponseEndAction: Equatable {
        case keep
        /// Close the sending side, drop what still comes, then close.
        case linger
    }

    enum ParserErrorAction: Equatable {
        /// No request is under way: answer and close.
        case refuse
        /// Let the reader of the body know.
        case failBody
        /// Answer the requests that came before, and drop all that comes.
        case drop
        case close
    }
}

extension ConnectionStateMachine {
    /// Since when a request's header is arriving; nil when none is.
    var headSince: NIODeadline? {
        if case .readingHeader(let since) = phase { since } else { nil }
    }
}
