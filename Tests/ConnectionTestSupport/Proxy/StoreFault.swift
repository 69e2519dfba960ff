import TestSupport

/// What goes wrong between a service and its store.
package enum StoreFault: String, CaseIterable, Sendable {
    /// The connection is reset before the store saw the request.
    case resetAtOnce
    /// The store gets half of the body, and the connection is reset.
    case resetInBody
    /// The store did as asked, and the connection is reset before it could say so.
    case resetAfter
    /// Nothing is read any more.
    case stallAtOnce
    /// The store gets half of the body, and nothing more is read.
    case stallInBody
    /// The store did as asked, and its answer does not come.
    case stallAfter
    /// The answer stops in the middle.
    case stallInAnswer
    /// The request reaches the store after its client has given up.
    case late
    /// 500 `InternalError`, of which the store knows nothing.
    case errorBefore
    /// 500 `InternalError`, and the store did as asked.
    case errorAfter
    /// 503 `SlowDown` while the body is still on its way.
    case slowDownBefore
    /// 503 `SlowDown`, and the store did as asked.
    case slowDownAfter
    /// The connection is closed in the middle of the answer's head.
    case cutInHead
    /// The connection is closed in the middle of the answer's body; in that of its head when it has no body.
    case cutInBody
    /// 200 with an error in it, as to the end of an upload in parts.
    case errorInSuccess

    /// Whether the answer never came though the store may have done as asked.
    package var hidesSuccess: Bool {
        switch self {
        case .resetAtOnce, .resetInBody, .stallAtOnce, .stallInBody, .errorBefore, .slowDownBefore, .errorInSuccess:
            false
        case .resetAfter, .stallAfter, .stallInAnswer, .late, .errorAfter, .slowDownAfter, .cutInHead, .cutInBody:
            true
        }
    }

    /// Whether it can happen to such a request.
    func befalls(_ request: ServedRequest) -> Bool {
        switch self {
        case .errorInSuccess: request.method == "POST" && request.target.contains("?uploadId=")
        case .resetInBody, .stallInBody: request.length > 0
        default: true
        }
    }
}

/// Shuffled cards, so that each fault comes up as often as it should and none is left to luck.
struct FaultDeck {
    private var cards: [StoreFault?] = []
    private let all: [StoreFault?]

    /// - Parameter request: One of those that the deck is for.
    init(_ request: ServedRequest) {
        // Deletions and the calls around an upload in parts are few.
        let quietCount = ["GET", "HEAD", "PUT"].contains(request.method) ? 50 : 10
        all = StoreFault.allCases.filter { $0.befalls(request) } + Array(repeating: nil, count: quietCount)
    }

    /// Draws a card, from a new deck when the old one is used up.
    mutating func draw(using generator: inout SplitMix64) -> StoreFault? {
        if cards.isEmpty { cards = all.shuffled(using: &generator) }
        return cards.popLast() ?? nil
    }
}
