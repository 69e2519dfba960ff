import DatabaseTestSupport
import Glibc
package import Postgres
import ServerProcesses
import Synchronization

/// Processes on one database, of which any may be killed at any time.
package final class StormServers: StormTarget {
    private let cluster: OwnCluster
    private let objects: TestObjects
    package let postgres: PostgresClient
    private let running: Mutex<[ServedSelfie]>

    /// Runs a body with two processes.
    package static func with(_ body: (StormServers) async throws -> Void) async throws {
        try await OwnCluster.use { cluster in
            try await TestObjects.with(.disk) { objects in
                try await TestCluster.withClient(cluster.url) { postgres in
                    let servers = StormServers(cluster: cluster, objects: objects, postgres: postgres)
                    for _ in 0..<2 { try await servers.start() }
                    try await body(servers)
                }
            }
        }
    }

    private init(cluster: OwnCluster, objects: TestObjects, postgres: PostgresClient) {
        (self.cluster, self.objects, self.postgres) = (cluster, objects, postgres)
        running = Mutex([])
    }

    /// Calls to any of them.
    package var any: TestService {
        get throws {
            guard let served = running.withLock({ $0.randomElement() }) else { throw NotInTime(what: "a process") }
            return served.service
        }
    }

    private func start() async throws {
        let served = try await ServedSelfie.start(
            databaseURL: cluster.url,
            objects: objects,
            settings: ["RATE_LIMITS": "off", "UPLOADS_AT_ONCE_PER_USER_MAX": "200"],
            postgres: postgres
        )
        running.withLock { $0.append(served) }
    }

    /// Kills one of them, and starts another.
    package func killProcess() async throws {
        guard let served = running.withLock({ $0.popLast() }) else { return }
        served.process.signal(SIGKILL)
        _ = try await served.process.waitForExit()
        try await start()
    }

    /// Kills the database, and starts it again.
    package func killDatabase() async throws {
        try await cluster.killHard()
        try await cluster.start()
    }
}
