import Foundation
import Postgres
import ServiceTestSupport
import Synchronization
import Testing

/// Many users who write and read at once.
final class StandbyCrowd: Sendable {
    /// The users who do nothing right now.
    private let users: Mutex<[StandbyUser]>
    private let services: [TestService]
    private let tally = Mutex(Tally())
    private let isOver = Atomic(false)

    /// What was done so far.
    struct Tally: Sendable {
        var writes = 0
        /// Reads right after a write of the user's.
        var readsAtOnce = 0
        var readsLater = 0
        /// Reads that were refused, or not as they had to be.
        var wrong = 0
        var longest: Duration = .zero

        var reads: Int { readsAtOnce + readsLater }
    }

    /// Adds users to the processes of a service.
    init(userCount: Int, at services: [TestService]) async throws {
        self.services = services
        var users: [StandbyUser] = []
        for number in 0..<userCount {
            let name = "user\(number)"
            let member = try await services[0].addMember(name)
            let other = "\(name)-other"
            try await services[0].postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT user_id, sha256(convert_to(\(other), 'UTF8')), expires_at FROM sessions WHERE user_id = \(member.userID)
                """
            )
            users.append(StandbyUser(name: name, tokens: [member.token, other]))
        }
        self.users = Mutex(users)
    }

    var counts: Tally { tally.withLock(\.self) }

    /// Has all clients come to their end.
    func end() { isOver.store(true, ordering: .relaxed) }

    /// Lets clients visit random users; every fifth visit begins with a write.
    ///
    /// - Parameters:
    ///   - clients: How many clients.
    ///   - maxReads: How many reads are enough; they may also be ended.
    /// - Throws: What a connection throws, or a write that was refused.
    func visit(clients: Int, maxReads: Int = .max) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<clients {
                tasks.addTask {
                    while !self.isOver.load(ordering: .relaxed), self.counts.reads < maxReads {
                        try await self.visitOne()
                    }
                }
            }
            try await tasks.waitForAll()
        }
    }

    private func visitOne() async throws {
        var user = try #require(
            users.withLock { users -> StandbyUser? in
                guard !users.isEmpty else { return nil }
                users.swapAt(.random(in: users.indices), users.count - 1)
                return users.removeLast()
            }
        )
        let isWriting = Int.random(in: 0..<5) == 0
        if isWriting { try await user.write(to: services) }
        let start = ContinuousClock.now
        let differences = try await user.read(from: services)
        let time = ContinuousClock.now - start
        tally.withLock { tally in
            tally.writes += isWriting ? 1 : 0
            tally.readsAtOnce += isWriting ? StandbyUser.readCount : 0
            tally.readsLater += isWriting ? 0 : StandbyUser.readCount
            tally.wrong += differences.count
            tally.longest = max(tally.longest, time)
        }
        for difference in differences { Issue.record("\(isWriting ? "at once" : "later"): \(difference)") }
        if counts.wrong > 20 { end() }
        users.withLock { [user] in $0.append(user) }
    }
}
