import Synchronization

/// What users of a cluster know of each other: their ids, and the messages under way to them.
///
/// Of eight users, six stay for the whole run. Two and two of them send each other messages. The other two users delete their
/// accounts now and then, so nobody else may count on them.
final class ClusterMembers: Sendable {
    private struct Message {
        let text: String
        /// Whether its sender knows that it was sent.
        var isAnswered = false
    }

    private struct State {
        var ids: [Int: String] = [:]
        /// By their recipients' numbers, and by their ids.
        var messages: [Int: [String: Message]] = [:]
    }

    private let state = Mutex(State())

    private static let (groupSize, stayingCount) = (8, 6)

    static func stays(_ number: Int) -> Bool { number % groupSize < stayingCount }

    /// Who gets a user's messages, and sends the user some.
    static func partner(of number: Int) -> Int { number ^ 1 }

    /// Whom a user may block, without any effect on messages.
    static func strangers(to number: Int) -> [Int] {
        let first = number - number % groupSize
        return (first..<first + stayingCount).filter { $0 != number && $0 != partner(of: number) }
    }

    /// The id of a user; nil for one who does not stay, or is not there yet.
    func id(of number: Int) -> String? { state.withLock { $0.ids[number] } }

    func note(_ id: String, of number: Int) { state.withLock { $0.ids[number] = id } }

    // MARK: - Messages

    /// Notes that a message is about to be sent.
    func begin(_ id: String, _ text: String, to number: Int) {
        state.withLock { $0.messages[number, default: [:]][id] = Message(text: text) }
    }

    /// Notes that a message was sent.
    func sent(_ id: String, to number: Int) {
        state.withLock { state in
            // The recipient may have deleted it already.
            guard state.messages[number]?[id] != nil else { return }
            state.messages[number]?[id]?.isAnswered = true
        }
    }

    /// Notes that the recipient has deleted a message.
    func deleted(_ id: String, of number: Int) { state.withLock { $0.messages[number, default: [:]][id] = nil } }

    /// The ids of messages that must be in a user's inbox.
    func due(to number: Int) -> Set<String> {
        state.withLock { Set(($0.messages[number] ?? [:]).filter { $0.value.isAnswered }.keys) }
    }

    /// The texts by the ids of all messages that may be there.
    func texts(to number: Int) -> [String: String] { state.withLock { ($0.messages[number] ?? [:]).mapValues(\.text) } }
}
