import NIOCore

/// An action that the connection carries out.
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
        /// Close the sending side, drop what still arrives, then close.
        case linger
    }

    enum ParserErrorAction: Equatable {
        /// No request is under way: answer and close.
        case refuse
        /// Notify the reader of the body.
        case failBody
        /// Answer the requests that arrived before, and drop all further bytes.
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
