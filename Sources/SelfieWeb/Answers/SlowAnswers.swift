import Budgets
import NIOCore
import Synchronization

/// The answers that clients are taking, of which the oldest can be ended to make room for others.
///
/// Without that, a few accounts that read very slowly would keep all others from their records for half an hour.
final class SlowAnswers: Sendable {
    private struct Answer {
        let userID: Int
        let start: ContinuousClock.Instant
        let shares: [ByteReservation<Int>]
        let channel: any Channel
    }

    private struct State {
        var answers: [UInt64: Answer] = [:]
        var lastID: UInt64 = 0
    }

    private let minTime: Duration
    private let state = Mutex(State())

    /// - Parameter minTime: How long an answer is under way before it may be ended.
    init(minTime: Duration) {
        self.minTime = minTime
    }

    /// Notes an answer that a client begins to take.
    ///
    /// - Parameters:
    ///   - userID: Whose answer it is.
    ///   - shares: What it holds.
    ///   - channel: The connection.
    /// - Returns: A place. The caller holds it until the client has the whole answer.
    func begin(of userID: Int, _ shares: [ByteReservation<Int>], on channel: any Channel) -> Place {
        let id = state.withLock { state in
            state.lastID += 1
            state.answers[state.lastID] = Answer(userID: userID, start: .now, shares: shares, channel: channel)
            return state.lastID
        }
        return Place { [self] in _ = state.withLock { $0.answers.removeValue(forKey: id) } }
    }

    /// Ends the oldest answer of the user who holds the most, so that its bytes are free.
    ///
    /// Its client notices: the answer is shorter than it says.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes that user must hold at least.
    ///   - budget: The budget of users.
    /// - Returns: Whether there was one.
    func endOne(ofWhoHolds bytes: Int, in budget: ByteBudget<Int>) -> Bool {
        let latest = ContinuousClock.now - minTime
        let ended = state.withLock { state -> Answer? in
            let slow = state.answers.filter { $0.value.start <= latest }
            let largest = slow.map { (id: $0.key, bytes: budget.bytesUsed(by: $0.value.userID)) }
                .filter { $0.bytes >= bytes }.max { ($0.bytes, $1.id) < ($1.bytes, $0.id) }
            return largest.flatMap { state.answers.removeValue(forKey: $0.id) }
        }
        guard let ended else { return false }
        for share in ended.shares { share.giveBack() }
        ended.channel.close(promise: nil)
        return true
    }
}
