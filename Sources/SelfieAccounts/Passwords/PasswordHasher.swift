import Budgets
import Cryptography
import NIOPosix

/// Hashes and checks passwords on threads of its own, so that many sign-ins do not slow other requests down.
///
/// Work waits for a thread in the queue of its caller's network, and networks take turns. So a flood from one network
/// delays the others only a little.
package final class PasswordHasher: Sendable {
    /// The cost of new hashes; weaker ones are renewed at sign-in.
    let cost: Int

    private let options: PasswordHasherOptions
    private let threads: NIOThreadPool
    private let semaphore: FairSemaphore
    /// The hash to check against for an unknown e-mail, so that it takes as long.
    private let dummyHash: String

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - cost: The cost of new hashes.
    ///   - options: How many threads, and how much may wait for them.
    /// - Throws: `BCryptError`.
    package init(cost: Int, options: PasswordHasherOptions) throws {
        self.cost = cost
        self.options = options
        threads = NIOThreadPool(numberOfThreads: options.threadCount)
        semaphore = FairSemaphore("HASHES_WAITING", limits: options.limits)
        dummyHash = try BCrypt.hash(Array(RandomIdentifier.makeSecret().utf8), cost: cost)
        threads.start()
    }

    /// Ends the threads after their present work.
    package func shutDown() async throws {
        try await threads.shutdownGracefully()
    }

    /// Refuses work at once that would be refused later.
    ///
    /// - Parameter caller: Who wants the work done.
    /// - Throws: `TooBusy` when too much is waiting already.
    func requireRoom(for caller: FairSemaphore.Caller) throws(TooBusy) {
        try semaphore.requireRoom(for: caller)
    }

    /// How much work waits for a thread.
    package var waitingCount: Int { semaphore.waitingCount }

    /// Hashes a password.
    ///
    /// - Parameters:
    ///   - password: The password.
    ///   - caller: Who wants it.
    /// - Returns: Its hash.
    /// - Throws: `TooBusy` when too much is waiting already, or its turn does not come in time; `BCryptError`.
    func hash(_ password: Password, for caller: FairSemaphore.Caller) async throws -> String {
        let willCompute = options.willCompute
        return try await run(for: caller) { [cost] in
            try BCrypt.hash(password.bytes, cost: cost, willCompute: willCompute)
        }
    }

    /// Checks a password.
    ///
    /// It takes the same time with and without a hash, and for a password that bcrypt can't hash.
    ///
    /// - Parameters:
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - hash: The account's hash; nil when there is no such account.
    ///   - caller: Who wants it.
    /// - Returns: Whether it is the account's password.
    /// - Throws: `TooBusy` when too much is waiting already, or its turn does not come in time.
    func verify(_ password: Password?, against hash: String?, for caller: FairSemaphore.Caller) async throws -> Bool {
        let bytes = password.flatMap { BCrypt.canHash($0.bytes) ? $0.bytes : nil }
        let willCompute = options.willCompute
        let isMatch = try await run(for: caller) { [dummyHash, cost] in
            let (bytes, hash) = (bytes ?? Self.standIn, hash ?? dummyHash)
            if BCrypt.verify(bytes, against: hash, willCompute: willCompute) { return true }
            // A hash of a lower cost must not show by a faster refusal. Each cost takes twice as long as the one below.
            // So the costs in between, and this one once more, fill the time of a present hash.
            guard let hashCost = BCrypt.cost(of: hash) else {
                BCrypt.spendTime(of: bytes, cost: cost, willCompute: willCompute)
                return false
            }
            for lower in hashCost..<max(hashCost, cost) {
                BCrypt.spendTime(of: bytes, cost: lower, willCompute: willCompute)
            }
            return false
        }
        return isMatch && bytes != nil && hash != nil
    }

    /// What is hashed instead of a password that can't be decrypted.
    private static let standIn = Array("undecryptable".utf8)

    /// Whether a hash should be renewed while its password is known.
    func isWeak(_ hash: String) -> Bool {
        (BCrypt.cost(of: hash) ?? 0) < cost
    }

    private func run<Result: Sendable>(
        for caller: FairSemaphore.Caller,
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let deadline = options.clock.now + options.maxWait
        let permit = try await semaphore.acquire(for: caller)
        defer { withExtendedLifetime(permit) {} }
        guard options.clock.now < deadline else { throw TooBusy.everyone(limit: "HASHES_WAITING") }
        return try await threads.runIfActive(work)
    }
}
