import Budgets
import DatabaseTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Postgres
import ServerProcesses
import Testing

@testable import SelfieAccounts
@testable import SelfieWeb

/// With handlers that end as a test wants.
///
/// `NotedWriteTests` of `SelfieAppTests` have a service and a standby.
@Suite("Notes of a session's writes", .timeLimit(.minutes(2)))
struct StandbyMiddlewareTests {
    /// A session, whose calls may change something.
    private struct Scene: Sendable {
        let session: Session
        let middleware: StandbyWriteMiddleware
        /// With other connections than the middleware.
        let postgres: PostgresClient

        /// Makes a call.
        ///
        /// - Parameters:
        ///   - date: The time when it ends.
        ///   - outcome: The handler.
        /// - Throws: What the client is told of.
        func call(at date: Date = Date(), _ outcome: @Sendable () throws -> HTTPResponse.Status) async throws {
            let request = Request(
                head: HTTPRequest(method: .put, scheme: nil, authority: nil, path: "/"),
                body: RequestBody(buffer: ByteBuffer())
            )
            let channel = NIOAsyncTestingChannel()
            var context = ServiceRequestContext(
                source: ApplicationRequestContextSource(channel: channel, logger: Logger(label: "test"))
            )
            context.session = TokenSession(session, now: { date })
            _ = try await middleware.handle(request, context: context) { _, _ in
                Response(status: try outcome())
            }
        }

        /// Makes a call whose commit has no answer, and expects that the client is told of that.
        func callWithoutAnswer() async {
            await #expect(throws: PostgresTransactionError.self) {
                try await call { throw PostgresTransactionError.commit(.connectionLost("test")) }
            }
        }

        /// Runs a body while the session's row is locked.
        ///
        /// After a minute, the server ends the transaction. So what waits for the lock by mistake makes this throw.
        func whileLocked<Result>(_ body: () async throws -> Result) async throws -> Result {
            try await postgres.withTransaction { connection in
                try await connection.query("SELECT set_config('idle_in_transaction_session_timeout', '60s', true)")
                try await connection.query("SELECT FROM sessions FOR UPDATE")
                return try await body()
            }
        }

        func noteCount() async throws -> Int {
            try await postgres.read("SELECT write_count AS count FROM sessions")[0].decode("count")
        }

        /// How many notes wait for the lock of the session's row.
        func waitingCount() async throws -> Int {
            try await postgres.read(
                """
                SELECT count(*) AS count FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            )[0].decode("count")
        }
    }

    private static func run(
        maxNoteTime: Duration = .seconds(3600),
        _ body: (Scene) async throws -> Void
    ) async throws {
        try await TestCluster.withDatabase { url in
            try await PostgresClient.withClient(configuration: .direct(url: url)) { postgres in
                try await postgres.write(
                    """
                    WITH added AS (
                        INSERT INTO users (first_name, last_name, email, password_hash)
                        VALUES ('Ada', 'Lovelace', 'ada@example.com', 'none') RETURNING id
                    )
                    INSERT INTO sessions (user_id, token_digest, expires_at)
                    SELECT id, sha256(convert_to('token', 'UTF8')), now() + interval '1 day' FROM added
                    """
                )
                var configuration = try PostgresConfiguration.direct(url: url, maxConnections: 8)
                // What waits for a lock waits until the lock is free.
                configuration.statementTimeout = nil
                try await PostgresClient.withClient(configuration: configuration) { notes in
                    let sessions = SessionStore(postgres: notes)
                    let middleware = StandbyWriteMiddleware(
                        sessions: sessions,
                        notesAfterFailure: WebPermits().notesAfterFailure,
                        maxNoteTime: maxNoteTime
                    )
                    let session = try #require(try await sessions.find(token: "token"))
                    try await body(Scene(session: session, middleware: middleware, postgres: postgres))
                }
            }
        }
    }

    @Test("A call is noted if it has written, if it may have, and if it was refused for what the primary has")
    func outcomes() async throws {
        try await Self.run { scene in
            try await scene.call { .ok }
            #expect(try await scene.noteCount() == 1)
            for refusal in [ServiceError.recordNotFound, .recordIDTaken, .recordVersionDiffers] {
                await #expect(throws: refusal) { try await scene.call { throw refusal } }
            }
            #expect(try await scene.noteCount() == 4)
            await scene.callWithoutAnswer()
            #expect(try await scene.noteCount() == 5)
            await #expect(throws: ServiceError.recordForbidden) {
                try await scene.call { throw ServiceError.recordForbidden }
            }
            await #expect(throws: PostgresError.self) { try await scene.call { throw PostgresError.leaseTimedOut } }
            #expect(try await scene.noteCount() == 5)
        }
    }

    @Test("What is noted of a failed call depends on what it may have written or shown")
    func decisions() {
        let expected: [(any Error, WriteNote)] = [
            (ServiceError.recordNotFound, .required), (ServiceError.collectionNotFound, .required),
            (ServiceError.recordReferredTo, .required), (ServiceError.recordVersionDiffers, .required),
            (PostgresTransactionError.commit(.connectionLost("")), .attempted),
            (PostgresTransactionError.commit(.statementTimedOut(isAnswered: false)), .attempted),
            (PostgresError.connectionLost(""), .attempted),
            (PostgresError.statementTimedOut(isAnswered: false), .attempted),
            (PostgresError.cancelled, .attempted), (CancellationError(), .attempted),
            (PostgresError.decoding(column: "a", expected: "Int", found: "text"), .attempted),
            (ServiceError.internalError, .attempted), (ServiceError.unavailable, .attempted),
            (PostgresError.cannotConnect(""), .unneeded), (PostgresError.leaseTimedOut, .unneeded),
            (PostgresError.tooManyWaiting, .unneeded), (PostgresError.clientClosed, .unneeded),
            (TooBusy.everyone(limit: "MEMORY"), .unneeded), (TooBusy.holder(limit: "MEMORY"), .unneeded),
            (SessionError.ended, .unneeded), (SessionError.expired, .unneeded),
            (ServiceError.recordForbidden, .unneeded), (ServiceError.malformedJSON, .unneeded),
        ]
        for (error, note) in expected { #expect(WriteNote(after: error) == note, "\(error)") }
    }

    @Test("A session that was extended during the call is noted, whatever its end was before")
    func extended() async throws {
        try await Self.run { scene in
            try await scene.call(at: scene.session.expiry + 1) { .ok }
            #expect(try await scene.noteCount() == 1)
        }
    }

    @Test("A client that leaves does not keep a write from being noted")
    func cancelled() async throws {
        try await Self.run { scene in
            let call = Task {
                try await scene.call {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return .ok
                }
            }
            try await call.value
            #expect(try await scene.noteCount() == 1)
            let failed = Task {
                try await scene.call {
                    withUnsafeCurrentTask { $0?.cancel() }
                    throw PostgresError.cancelled
                }
            }
            await #expect(throws: PostgresError.self) { try await failed.value }
            #expect(try await scene.noteCount() == 2)
        }
    }

    @Test("A call fails if it can't be noted; one that has failed before keeps its error")
    func failedNote() async throws {
        try await Self.run { scene in
            try await scene.postgres.write("ALTER TABLE sessions RENAME COLUMN write_count TO former")
            await #expect(throws: PostgresError.self) { try await scene.call { .ok } }
            await #expect(throws: PostgresError.self) { try await scene.call { throw ServiceError.recordNotFound } }
            await scene.callWithoutAnswer()
        }
    }

    @Test("A call that has failed does not wait for its note until a lock is free")
    func patience() async throws {
        try await Self.run(maxNoteTime: .milliseconds(1)) { scene in
            try await scene.whileLocked { await scene.callWithoutAnswer() }
        }
    }

    @Test("Four failed calls may wait for their notes at once, and a fifth does not wait")
    func fewAtOnce() async throws {
        try await Self.run { scene in
            let calls = try await scene.whileLocked {
                let calls = (0..<4).map { _ in Task { await scene.callWithoutAnswer() } }
                try await poll("four notes wait") { try await scene.waitingCount() == 4 }
                await scene.callWithoutAnswer()
                return calls
            }
            for call in calls { await call.value }
            #expect(try await scene.noteCount() == 4)
            // Their permits are free again.
            await scene.callWithoutAnswer()
            #expect(try await scene.noteCount() == 5)
        }
    }
}
