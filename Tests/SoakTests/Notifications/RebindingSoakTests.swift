import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import ProcessTestSupport
import SelfieNotifications
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing
import Webhooks

@Suite("A name server that changes its answers", .serialized, .timeLimit(.minutes(15)))
struct RebindingSoakTests {
    private static let tryCount = 12
    /// An address of this machine that no other server has.
    private static let address = "127.0.53.77"

    // Another name server for one process needs a mount of its own.
    @Test("A webhook never leads inside, whatever its name means at the moment", .enabled(if: geteuid() == 0))
    func inside() async throws {
        let server = try SilentServer()
        try await TestCluster.withDatabase { url in
            try await TemporaryFolder.with { folder in
                let dns = try ServerProcess("dns")
                defer { dns.stop() }
                let answers = folder.appending(path: "answers")
                let command = try PythonScript.command("rebinding_dns.py") + [Self.address, answers.path]
                _ = try await dns.launch(command) { $0.contains("listening") ? 53 : nil }
                try Data("nameserver \(Self.address)\n".utf8).write(to: folder.appending(path: "resolv.conf"))
                let secret = String(repeating: "secret-key-base-", count: 4)
                try await PostgresClient.withClient(configuration: .patient(url: url)) { postgres in
                    let store = WebhookStore(postgres: postgres, secret: secret)
                    let hook = try #require(WebhookURL("https://rebind.test:\(server.port)/"))
                    _ = try #require(try await store.add(hook, events: ["users"], isFull: false))
                }
                var environment = ["DATABASE_URL": url, "SECRET_KEY_BASE": secret]
                let program = try SelfieProcess.executable.path
                func tryAll() async throws -> Int {
                    let script =
                        "mount --bind resolv.conf /etc/resolv.conf && for i in $(seq \(Self.tryCount)); do \(program) webhooks test 1; done"
                    _ = try await ProgramOutcome.run(
                        URL(filePath: "/usr/bin/unshare"),
                        ["--mount", "sh", "-c", script],
                        environment: environment,
                        directory: folder
                    )
                    return server.takeConnections()
                }
                #expect(try await tryAll() == 0)
                let given = try String(contentsOf: answers, encoding: .utf8).split(separator: "\n")
                #expect(given.contains("127.0.0.1") && given.contains { $0 != "127.0.0.1" })
                // Where the network is named, some of them get there.
                environment["WEBHOOK_NETWORKS"] = "127.0.0.0/8"
                let count = try await tryAll()
                print("\(given.count) answers, no connection; with WEBHOOK_NETWORKS \(count) of \(Self.tryCount)")
                #expect(count > 0)
            }
        }
    }
}
