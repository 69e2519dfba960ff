import DatabaseTestSupport
import Postgres
import ServerProcesses
import Testing

@Suite("Several database hosts", .timeLimit(.minutes(3)))
struct FailoverTests {
    /// A URL of several clusters for the one of them that takes writes.
    private func url(of clusters: OwnCluster...) -> String {
        let hosts = clusters.map { $0.url.dropFirst("postgresql://selfie@".count).prefix { $0 != "/" } }
        return "postgresql://selfie@\(hosts.joined(separator: ","))/selfie?target_session_attrs=read-write"
    }

    private func dataDirectory(_ client: PostgresClient) async throws -> String {
        try await client.read("SELECT current_setting('data_directory') AS folder")[0].decode("folder")
    }

    /// Has all sessions to come read only, as those of a standby do.
    private func makeReadOnly(_ cluster: OwnCluster, _ isReadOnly: Bool) async throws {
        try await PostgresClient.withClient(configuration: .patient(url: cluster.url)) { client in
            try await client.withConnection { connection in
                try await connection.query("SET default_transaction_read_only = off")
                let value = isReadOnly ? "on" : "off"
                try await connection.execute(script: "ALTER SYSTEM SET default_transaction_read_only = \(value)")
                try await connection.query("SELECT pg_reload_conf()")
            }
        }
    }

    @Test("The host that takes writes is used, and another once it does instead")
    func failover() async throws {
        try await OwnCluster.use { first in
            try await OwnCluster.use { second in
                try await makeReadOnly(second, true)
                let configuration = try PostgresConfiguration.patient(url: url(of: first, second))
                try await PostgresClient.withClient(configuration: configuration) { client in
                    let home = try await dataDirectory(client)
                    try await client.write("CREATE TABLE things (id int)")

                    try await first.kill()
                    try await makeReadOnly(second, false)
                    let other = try await settled(client)
                    #expect(other != home)
                    try await client.write("CREATE TABLE things (id int)")

                    // The first comes back as a standby would, and stays unused although it is named first.
                    try await first.start()
                    try await makeReadOnly(first, true)
                    try await second.kill()
                    try await second.start()
                    #expect(try await settled(client) == other)
                    try await client.write("INSERT INTO things VALUES (1)")
                }
            }
        }
    }

    @Test("A host that turns read only under a client's feet is left for the one that takes writes")
    func demotion() async throws {
        try await OwnCluster.use { first in
            try await OwnCluster.use { second in
                try await makeReadOnly(second, true)
                let configuration = try PostgresConfiguration.patient(url: url(of: first, second), maxConnections: 1)
                try await PostgresClient.withClient(configuration: configuration) { client in
                    let home = try await dataDirectory(client)
                    try await makeReadOnly(first, true)
                    try await makeReadOnly(second, false)
                    // The server notifies its sessions a little later.
                    try await poll("the session knows it") {
                        let rows = try await client.read(
                            "SELECT current_setting('default_transaction_read_only') AS it"
                        )
                        return try rows[0].decode("it", as: String.self) == "on"
                    }
                    // Refused once by the session that was there, which is given up for it.
                    let error = await #expect(throws: PostgresError.self) {
                        try await client.write("CREATE TABLE things (id int)")
                    }
                    #expect(error?.sqlState == .readOnlyTransaction)
                    #expect(try await settled(client) != home)
                    try await client.write("CREATE TABLE things (id int)")
                }
            }
        }
    }

    /// Where the client is once it is anywhere again.
    private func settled(_ client: PostgresClient) async throws -> String {
        var folder: String?
        try await poll("the client is connected") {
            do {
                folder = try await dataDirectory(client)
                return true
            } catch let error as PostgresError where error.isUnavailable {
                return false
            }
        }
        return try #require(folder)
    }
}
