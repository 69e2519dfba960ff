import ConnectionTestSupport
import Foundation
import Postgres
import SelfieClient
import ServerProcesses
import ServiceTestSupport
import Synchronization
import Testing

/// An app with two live queries, which may be ended and started again on the same folder.
actor ReplicaReader {
    struct Thread: RecordFields {
        static let collection = "threads"
    }

    nonisolated let member: TestMember
    nonisolated let relay: ConnectionRelay
    private let service: TestService
    private let folder: URL
    private var client: TestClient?
    private var replica: Replica?
    private var following: [Task<Void, any Error>] = []
    private let seen = Seen()
    private var hasRole = true

    /// The last results.
    private final class Seen: Sendable {
        let results = Mutex<[String: [String]]>([:])
    }

    init(service: TestService, member: TestMember, relay: ConnectionRelay, folder: URL) {
        (self.service, self.member, self.relay, self.folder) = (service, member, relay, folder)
    }

    private func start() async throws {
        guard client == nil else { return }
        let client = try TestClient(service, folder: folder, port: relay.port, as: member)
        self.client = client
        let replica = try await client.selfie.replica(of: ["bugs", "threads"])
        self.replica = replica
        let bugs = replica.results(
            BugReport.self,
            where: [.range("points", from: 5, below: 15)],
            order: .descending("points")
        )
        let threads = replica.results(Thread.self)
        following = [
            Task { [seen] in
                for await result in bugs {
                    seen.results.withLock { $0["bugs"] = result.map { "\($0.id) \($0.version)" } }
                }
            },
            Task { [seen] in
                for await result in threads {
                    seen.results.withLock { $0["threads"] = result.map { "\($0.id) \($0.version)" } }
                }
            },
        ]
    }

    /// Ends the app, and starts it again.
    func restart() async throws {
        try await end()
        try await start()
    }

    func end() async throws {
        for task in following { task.cancel() }
        await replica?.close()
        (client, replica, following) = (nil, nil, [])
        seen.results.withLock { $0 = [:] }
    }

    /// Takes the role from the member, or gives it back.
    func changeRole() async throws {
        if hasRole {
            try await service.postgres.write("DELETE FROM role_members WHERE user_id = \(member.userID)")
        } else {
            try await service.add(member.userID, to: "team")
        }
        hasRole.toggle()
    }

    /// Waits until both results are what the database has.
    func expectWhatSQLSays(_ postgres: PostgresClient, readers round: Int) async throws {
        try await start()
        let bugs = try await readable("bugs", postgres).filter { 5..<15 ~= $0.points ?? 0 }
            .sorted { ($0.points ?? 0, $0.created, $0.id) > ($1.points ?? 0, $1.created, $1.id) }
            .map { "\($0.id) \($0.version)" }
        let threads = try await readable("threads", postgres).sorted { ($0.created, $0.id) < ($1.created, $1.id) }
            .map { "\($0.id) \($0.version)" }
        do {
            try await poll("the results of round \(round)", within: .seconds(90)) {
                let results = seen.results.withLock { $0 }
                return results["bugs"] == bugs && results["threads"] == threads
            }
        } catch {
            let results = seen.results.withLock { $0 }
            Issue.record("\(member.name), round \(round), has role: \(hasRole): \(results), not \(bugs), \(threads)")
        }
    }

    private struct Row {
        let id: String
        let version: Int
        let points: Int?
        /// Milliseconds since 1970.
        let created: Int
    }

    private func readable(_ collection: String, _ postgres: PostgresClient) async throws -> [Row] {
        let rows = try await postgres.read(
            """
            SELECT records.id, version::bigint, (data->>'points')::bigint AS points,
                floor(extract(epoch FROM created_at) * 1000)::bigint AS created
            FROM records JOIN collections ON collections.id = records.collection_id
            WHERE deleted_at IS NULL AND collections.name = \(collection) AND EXISTS (
                SELECT FROM grants JOIN streams ON streams.id = stream_id
                WHERE record_key = key AND grants.collection_id = records.collection_id AND rights % 2 = 1 AND (
                    streams.user_id = \(member.userID)
                    OR streams.role_id IN (SELECT role_id FROM role_members WHERE user_id = \(member.userID))
                )
            )
            """
        )
        return try rows.map { row in
            Row(
                id: try row.decode("id"),
                version: try row.decode("version"),
                points: try row.decodeIfPresent("points"),
                created: try row.decode("created")
            )
        }
    }
}
