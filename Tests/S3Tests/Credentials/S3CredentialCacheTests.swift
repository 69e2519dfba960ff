import Concurrency
import ConnectionTestSupport
import Curl
import Foundation
import S3TestSupport
import ServerProcesses
import Synchronization
import TestSupport
import Testing

@testable import S3

@Suite("The cache of credentials", .timeLimit(.minutes(1)))
struct S3CredentialCacheTests {
    private typealias Reply = ScriptedServer.Reply

    /// A cache in front of a scripted server, and the failures that were reported.
    private struct Setting: Sendable {
        let cache: S3CredentialCache
        let server: ScriptedServer
        let clock: TestClock
        let failures: Failures
    }

    private final class Failures: Sendable {
        let all = Mutex<[S3CredentialError]>([])
    }

    private static func with(
        _ replies: [Reply],
        deadlines: S3CredentialDeadlines = .short,
        clock: any MonotonicClock = ContinuousClock(),
        _ body: @escaping @Sendable (Setting) async throws -> Void
    ) async throws {
        try await ScriptedServer.with(replies) { server in
            let (dates, failures) = (TestClock(), Failures())
            let cache = S3CredentialCache(
                source: .container(try ContainerCredentials(fullURI: server.endpoint)),
                curl: CurlClient(S3Client.connections()),
                deadlines: deadlines,
                clock: clock,
                onFailure: { error in failures.all.withLock { $0.append(error) } },
                now: { dates.now }
            )
            try await body(Setting(cache: cache, server: server, clock: dates, failures: failures))
        }
    }

    private static func keys(_ name: String, seconds: TimeInterval = 3600) -> Reply {
        .send(.credentials(name, expiration: Date().addingTimeInterval(seconds)))
    }

    /// What so many callers at the same time get, by their id.
    private static func names(
        of callers: Int,
        _ call: @escaping @Sendable () async throws -> S3Credentials
    ) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<callers { group.addTask { try await call().accessKeyID } }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
    }

    @Test("Fixed credentials come as they are, and are never replaced")
    func fixed() async throws {
        let keys = try S3Credentials.test("1")
        let cache = S3CredentialCache(source: .fixed(keys), curl: CurlClient()) { credentialEpoch }
        #expect(try await cache.current() == keys)
        await #expect(throws: S3CredentialError.notReplaced(.fixed)) { try await cache.replacement(for: keys) }
    }

    @Test("A hundred callers at once are served by one fetch")
    func manyCallers() async throws {
        try await Self.with([Self.keys("1"), Self.keys("2")]) { setting async throws in
            #expect(try await Self.names(of: 100) { try await setting.cache.current() } == ["SESAMEID1"])
            #expect(setting.server.received.count == 1)
        }
    }

    @Test("Five minutes before the end they are fetched again once, and no caller waits for it")
    func refresh() async throws {
        // The second answer is never complete: only callers that do not wait get credentials.
        try await Self.with([Self.keys("1"), .hang]) { setting in
            _ = try await setting.cache.current()
            setting.clock.advance(by: 3600 - 299)
            for _ in 0..<3 {
                #expect(try await Self.names(of: 50) { try await setting.cache.current() } == ["SESAMEID1"])
            }
            try await poll("the server is asked again") { setting.server.received.count == 2 }
        }
        try await Self.with([Self.keys("1"), Self.keys("2", seconds: 7200)]) { setting in
            _ = try await setting.cache.current()
            setting.clock.advance(by: 3600 - 299)
            try await poll("the new ones are there") {
                try await setting.cache.current().accessKeyID == "SESAMEID2"
            }
            #expect(setting.server.received.count == 2)
        }
    }

    @Test("When they have ended, everybody waits for one fetch")
    func ended() async throws {
        try await Self.with([Self.keys("1"), Self.keys("2", seconds: 9000), Self.keys("3")]) { setting in
            _ = try await setting.cache.current()
            setting.clock.advance(by: 3601)
            #expect(try await Self.names(of: 100) { try await setting.cache.current() } == ["SESAMEID2"])
            #expect(setting.server.received.count == 2)
        }
    }

    @Test("A refresh that fails leaves the old ones in use while they live, and is reported once, not tried by each")
    func failedRefresh() async throws {
        let refusal = Reply.send(.answer("403 Forbidden", body: "SESAME"))
        try await Self.with([Self.keys("1"), refusal, refusal, refusal]) { setting in
            let error = S3CredentialError.failed(.container, .status(403))
            _ = try await setting.cache.current()
            setting.clock.advance(by: 3600 - 299)
            try await poll("the failure is reported") {
                let keys = try await setting.cache.current()
                #expect(keys.accessKeyID == "SESAMEID1")
                return setting.failures.all.withLock { !$0.isEmpty }
            }
            #expect(setting.failures.all.withLock { $0 } == [error])
            #expect(try await Self.names(of: 50) { try await setting.cache.current() } == ["SESAMEID1"])
            #expect(setting.server.received.count == 2)
            setting.clock.advance(by: 300)
            await #expect(throws: error) { try await setting.cache.current() }
            await #expect(throws: error) { try await setting.cache.current() }
            #expect(setting.server.received.count == 3)
            #expect(setting.failures.all.withLock { $0.count } == 2)
        }
    }

    @Test("After a failure it works again by itself once the source does")
    func recovery() async throws {
        try await Self.with([.send(.answer("404 Not Found")), Self.keys("1")]) { setting async throws in
            await #expect(throws: S3CredentialError.failed(.container, .status(404))) {
                try await setting.cache.current()
            }
            setting.clock.advance(by: 10)
            #expect(try await setting.cache.current().accessKeyID == "SESAMEID1")
        }
    }

    @Test("Rejected credentials are replaced by one fetch, however many callers reject them")
    func replacement() async throws {
        try await Self.with([Self.keys("1"), Self.keys("2"), Self.keys("3")]) { setting in
            let old = try await setting.cache.current()
            setting.clock.advance(by: 10)
            #expect(try await Self.names(of: 100) { try await setting.cache.replacement(for: old) } == ["SESAMEID2"])
            setting.clock.advance(by: 10)
            #expect(try await setting.cache.replacement(for: old).accessKeyID == "SESAMEID2")
            #expect(try await setting.cache.current().accessKeyID == "SESAMEID2")
            #expect(setting.server.received.count == 2)
        }
    }

    @Test("That the source has no others is an error, which is not asked for again by each")
    func notReplaced() async throws {
        let same = Self.keys("1")
        try await Self.with([same, same, same]) { setting in
            let old = try await setting.cache.current()
            setting.clock.advance(by: 10)
            for _ in 0..<3 {
                await #expect(throws: S3CredentialError.notReplaced(.container)) {
                    try await setting.cache.replacement(for: old)
                }
            }
            #expect(try await setting.cache.current() == old)
            #expect(setting.server.received.count == 2)
        }
    }

    @Test("A cancelled caller returns at once, and the fetch continues for the others")
    func cancellation() async throws {
        let time = ManualTime()
        // The pause after the first answer is the time in which both wait.
        let replies = [.send(.answer("500 Internal Server Error")), Self.keys("1")]
        try await Self.with(replies, deadlines: S3CredentialDeadlines(), clock: time) { setting async throws in
            let cache = setting.cache
            let first = Task { try await cache.current() }
            try await time.awaitAlarm(at: .milliseconds(200))
            let second = Task { try await cache.current() }
            try await poll("both wait") { cache.waiterCount == 2 }
            first.cancel()
            await #expect(throws: S3CredentialError.cancelled) { try await first.value }
            #expect(cache.waiterCount == 1)
            #expect(setting.server.received.count == 1)
            time.move(to: .milliseconds(200))
            #expect(try await second.value.accessKeyID == "SESAMEID1")
            #expect(setting.server.received.count == 2)
        }
    }

    @Test("A caller that was cancelled before does not wait")
    func cancelledBefore() async throws {
        try await Self.with([.hang]) { setting async throws in
            let cache = setting.cache
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await cache.current()
            }
            await #expect(throws: S3CredentialError.cancelled) { try await task.value }
        }
    }

    @Test("No way of printing shows a key, a token or an answer")
    func redaction() async throws {
        let replies = [Self.keys("1"), Reply.send(.answer("403 Forbidden", body: "SESAME"))]
        try await Self.with(replies) { setting in
            let keys = try await setting.cache.current()
            setting.clock.advance(by: 7200)
            var printed = "\(setting.cache) \(String(reflecting: setting.cache)) \(keys) \(setting.cache.source)"
            do {
                _ = try await setting.cache.current()
            } catch {
                printed += "\(error) \(String(reflecting: error)) \((error as any Error).localizedDescription)"
                dump(error, to: &printed)
            }
            dump(setting.cache, to: &printed)
            dump(Result<S3Credentials, S3CredentialError>.success(keys), to: &printed)
            #expect(printed.contains("403"))
            #expect(!printed.contains("SESAME"))
        }
    }
}
