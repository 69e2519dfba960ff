import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import Synchronization
import Testing

@testable import SelfieNotifications

@Suite("Tokens of push providers", .timeLimit(.minutes(1)))
struct ProviderTokensTests {
    /// Makes tokens, and counts them.
    private final class Maker: Sendable {
        private let state = Mutex(0)
        var count: Int { state.withLock { $0 } }

        func issuer(_ name: String = "apns TEAM KEY", pause: Duration = .zero) -> ProviderTokens.Issuer {
            ProviderTokens.Issuer(name: name) { _ in
                try await Task.sleep(for: pause)
                return "token-\(self.state.withLock { $0 += 1; return $0 })"
            }
        }
    }

    private static let secret = String(repeating: "a", count: 32)

    private static func run(_ body: (PostgresClient) async throws -> Void) async throws {
        try await TestCluster.withDatabase { url in try await TestCluster.withClient(url) { try await body($0) } }
    }

    private static func age(_ postgres: PostgresClient, by minutes: Int) async throws {
        try await postgres.write(
            "UPDATE provider_tokens SET issued_at = issued_at - make_interval(mins => \(minutes)::int)"
        )
    }

    @Test("Processes share a token for 40 minutes, also when they ask at once, and then one makes the next")
    func shared() async throws {
        try await Self.run { postgres in
            let maker = Maker()
            let processes = (0..<4).map { _ in ProviderTokens(postgres: postgres, secret: Self.secret) }
            let issuer = maker.issuer(pause: .milliseconds(100))
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for process in processes {
                    for _ in 0..<5 {
                        group.addTask {
                            try await found("a token") {
                                do { return try await process.token(of: issuer) } catch is ProviderTokens.NotYet {
                                    return nil
                                }
                            }
                        }
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens == ["token-1"] && maker.count == 1)
            let others = { ProviderTokens(postgres: postgres, secret: Self.secret) }
            try await Self.age(postgres, by: 39)
            #expect(try await others().token(of: issuer) == "token-1")
            try await Self.age(postgres, by: 1)
            #expect(try await others().token(of: issuer) == "token-2")
            // Who has one goes on with it, since it is still valid.
            #expect(try await processes[0].token(of: issuer) == "token-1")
            #expect(try await others().token(of: maker.issuer("apns TEAM OTHER")) == "token-3")
        }
    }

    @Test("While one process makes the next, others use the last; without one, they come again")
    func renewal() async throws {
        try await Self.run { postgres in
            let maker = Maker()
            let other = { ProviderTokens(postgres: postgres, secret: Self.secret) }
            _ = try await other().token(of: maker.issuer())
            for (minutes, isUsable) in [(45, true), (12, false)] {
                try await Self.age(postgres, by: minutes)
                try await postgres.withTransaction { connection in
                    try await connection.execute("SELECT FROM provider_tokens FOR UPDATE")
                    if isUsable {
                        #expect(try await other().token(of: maker.issuer()) == "token-1")
                    } else {
                        await #expect(throws: ProviderTokens.NotYet.self) {
                            try await other().token(of: maker.issuer())
                        }
                    }
                }
            }
            #expect(try await other().token(of: maker.issuer()) == "token-2")
        }
    }

    @Test("A token that was refused is renewed once, but not before 20 minutes; others get the new one")
    func refused() async throws {
        try await Self.run { postgres in
            let maker = Maker()
            let (first, second) = (
                ProviderTokens(postgres: postgres, secret: Self.secret),
                ProviderTokens(postgres: postgres, secret: Self.secret)
            )
            let token = try await first.token(of: maker.issuer())
            await #expect(throws: ProviderTokens.NotYet.self) {
                try await first.token(of: maker.issuer(), insteadOf: token)
            }
            try await Self.age(postgres, by: 21)
            #expect(try await first.token(of: maker.issuer(), insteadOf: token) == "token-2")
            #expect(try await second.token(of: maker.issuer(), insteadOf: token) == "token-2")
            #expect(maker.count == 2)
        }
    }

    @Test("The database has no token in the clear, and what another secret sealed is made anew")
    func sealed() async throws {
        try await Self.run { postgres in
            let maker = Maker()
            _ = try await ProviderTokens(postgres: postgres, secret: Self.secret).token(of: maker.issuer())
            let text = try await postgres.read("SELECT to_jsonb(provider_tokens)::text AS row FROM provider_tokens")[0]
                .decode("row", as: String.self)
            #expect(!text.contains("token-1") && !text.contains(Data("token-1".utf8).base64EncodedString().prefix(8)))
            let other = ProviderTokens(postgres: postgres, secret: String(repeating: "b", count: 32))
            #expect(try await other.token(of: maker.issuer()) == "token-2")
        }
    }
}
