import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie serve, with a database that comes later", .timeLimit(.minutes(2)))
struct LateDatabaseTests {
    @Test("Until it is there, requests are refused within five seconds")
    func refusal() async throws {
        let address = "postgresql://nobody@127.0.0.1:1/none"
        try await TestCluster.withClient(address) { postgres in
            try await ServedSelfie.withObjects(.disk) { objects in
                let served = try await ServedSelfie.start(databaseURL: address, objects: objects, postgres: postgres)
                let start = ContinuousClock.now
                #expect(try await served.service.list(token: "any").status == 503)
                #expect(ContinuousClock.now - start < .seconds(5))
            }
        }
    }

    @Test("It is served once it is there, and also after the next looks")
    func later() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TestCluster.withClient(databaseURL) { postgres in
                let name = "late_\(UUID().uuidString.prefix(8).lowercased())"
                var address = try #require(URLComponents(string: databaseURL))
                address.path = "/\(name)"
                try await TemporaryFolder.with { folder in
                    let served = try await ServedSelfie.start(
                        databaseURL: try #require(address.string),
                        objects: .disk(folder.appending(path: "objects")),
                        postgres: postgres
                    )
                    let creation = PostgresQuery(stringLiteral: "CREATE DATABASE \(name) TEMPLATE selfie_template")
                    try await poll("the database is made") { (try? await postgres.write(creation)) != nil }
                    try await poll("it serves") { try await served.service.list(token: "any").status == 401 }
                    try await Task.sleep(for: .seconds(3))
                    #expect(try await served.service.list(token: "any").status == 401)
                    served.process.signal(SIGTERM)
                    #expect(try await served.process.waitForExit() == 0)
                    try await postgres.write(PostgresQuery(stringLiteral: "DROP DATABASE \(name) WITH (FORCE)"))
                }
            }
        }
    }
}
