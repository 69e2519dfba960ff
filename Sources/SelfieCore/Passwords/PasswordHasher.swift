import Encodings
import NIOPosix
import Synchronization

/// Hashes and checks passwords on threads of its own, so that many sign-ins do not slow other requests down.
package final class PasswordHasher: Sendable {
    /// The cost of new hashes; weaker ones are renewed at sign-in.
    let cost: Int

    private let options: PasswordHasherOptions
    private let threads: NIOThreadPool
    private let maxWaiting: Int
    private let waiting = Atomic(0)
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
        maxWaiting = options.threadCount * options.maxWaitingPerThread
        dummyHash = try BCrypt.hash(Array(RandomIdentifier.makeSecret().utf8), cost: cost)
        threads.start()
    }

    /// Ends the threads after their present work.
    package func shutDown() async throws {
        try await threads.shutdownGracefully()
    }

    /// Refuses work at once that would be refused later.
    ///
    /// - Throws: `PasswordHasherError.overloaded` when too much is waiting already.
    func requireRoom() throws(PasswordHasherError) {
        guard waiting.load(ordering: .relaxed) < maxWaiting else { throw .overloaded }
    }

    /// Hashes a password.
    ///
    /// - Parameter password: The password.
    /// - Returns: Its hash.
    /// - Throws: `PasswordHasherError.overloaded` when too much is waiting already, or `BCryptError`.
    func hash(_ password: Password) async throws -> String {
        let willCompute = options.willCompute
        return try await run { [cost] in try BCrypt.hash(password.bytes, cost: cost, willCompute: willCompute) }
    }

    /// Checks a password.
    ///
    /// It takes the same time with and without a hash.
    ///
    /// - Parameters:
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - hash: The account's hash; nil when there is no such account.
    /// - Returns: Whether it is the account's password.
    /// - Throws: `PasswordHasherError.overloaded` when too much is waiting already.
    func verify(_ password: Password?, against hash: String?) async throws -> Bool {
        let bytes = password?.bytes ?? Array("undecryptable".utf8)
        let willCompute = options.willCompute
        let isMatch = try await run { [dummyHash, cost] in
            let hash = hash ?? dummyHash
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
        return isMatch && password != nil && hash != nil
    }

    /// Whether a hash should be renewed while its password is known.
    func isWeak(_ hash: String) -> Bool {
        (BCrypt.cost(of: hash) ?? 0) < cost
    }

    private func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        let (now, deadline) = (options.now, options.now() + options.maxWait)
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= maxWaiting else { throw PasswordHasherError.overloaded }
        return try await threads.runIfActive {
            guard now() < deadline else { throw PasswordHasherError.overloaded }
            return try work()
        }
    }
}

package enum PasswordHasherError: Error {
    case overloaded
}
