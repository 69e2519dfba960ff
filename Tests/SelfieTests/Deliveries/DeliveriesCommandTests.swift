import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie deliveries", .timeLimit(.minutes(2)))
struct DeliveriesCommandTests {
    private static func run(_ url: String, _ arguments: [String]) async throws -> ProgramOutcome {
        try await SelfieProcess.run(["deliveries"] + arguments, environment: ["DATABASE_URL": url])
    }

    private static func add(_ postgres: PostgresClient) async throws {
        try await postgres.write(
            """
            INSERT INTO deliveries (id, channel, target, cause, ends_at, try_count, claimed_until, reason, failed_at)
            SELECT ('00000000-0000-0000-0000-00000000000' || number)::uuid, 'mail', 'mail',
                '{"kind": "reset_code", "code": "00000000-0000-0000-0000-000000000009"}',
                now() AT TIME ZONE 'UTC' + interval '1 hour', number,
                CASE number WHEN 2 THEN now() AT TIME ZONE 'UTC' + interval '1 minute' END,
                CASE WHEN number > 2 THEN 'RCPT 550 5.1.1' END,
                CASE WHEN number > 2 THEN now() AT TIME ZONE 'UTC' END
            FROM generate_series(1, 4) AS number
            """
        )
    }

    private static func id(_ number: Int) -> String { "00000000-0000-0000-0000-00000000000\(number)" }

    @Test("list and show print deliveries, as a table and as JSON")
    func look() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                try await Self.add(postgres)
                let lines = try await Self.run(url, ["list"]).output.split(separator: "\n")
                #expect(lines.count == 5 && lines[0].hasPrefix("ID "))
                #expect(lines.count { $0.contains(" waiting ") } == 1 && lines.count { $0.contains(" sending ") } == 1)
                #expect(lines.count { $0.contains(" failed ") && $0.contains("RCPT 550 5.1.1") } == 2)
                let json = try await Self.run(url, ["list", "--failed", "--json"]).output
                let list = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
                #expect(list.count == 2 && list.allSatisfy { $0["state"] as? String == "failed" })
                #expect(list[0]["kind"] as? String == "reset_code" && list[0]["try_count"] as? Int == 3)
                let one = try await Self.run(url, ["show", Self.id(3).uppercased()])
                #expect(one.status == 0 && one.output.contains("reason   RCPT 550 5.1.1"))
                let missing = try await Self.run(url, ["show", Self.id(9)])
                #expect(missing.status == 1)
                #expect(missing.errors.contains("There is no such delivery. What was sent is removed."))
                #expect(try await Self.run(url, ["show", "7"]).errors.contains("7 is not the id of a delivery"))
                #expect(try await Self.run(url, ["list", "--limit", "0"]).status != 0)
            }
        }
    }

    @Test("retry and drop take one, or all that have failed, and leave what is being sent alone")
    func change() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                try await Self.add(postgres)
                for command in ["retry", "drop"] {
                    let both = try await Self.run(url, [command, Self.id(1), "--failed"])
                    #expect(both.errors.contains("Name one delivery, or say --failed."))
                    #expect(try await Self.run(url, [command]).status != 0)
                    let busy = try await Self.run(url, [command, Self.id(2)])
                    #expect(busy.status == 1 && busy.errors.contains("The service is sending this delivery."))
                    #expect(try await Self.run(url, [command, Self.id(9)]).errors.contains("no such delivery"))
                }
                #expect(try await Self.run(url, ["retry", Self.id(3)]).output == "1 delivery will be tried at once.\n")
                #expect(
                    try await postgres.read(
                        """
                        SELECT FROM deliveries WHERE id = \(Self.id(3))::uuid AND failed_at IS NULL AND reason IS NULL
                            AND try_count = 0 AND due_at <= now() AT TIME ZONE 'UTC'
                            AND ends_at > now() AT TIME ZONE 'UTC' + interval '2 days'
                        """
                    ).count == 1
                )
                #expect(try await Self.run(url, ["drop", Self.id(1)]).output == "1 delivery is removed.\n")
                #expect(try await Self.run(url, ["drop", "--failed", "--json"]).output.contains("\"count\" : 1"))
                #expect(
                    try await Self.run(url, ["retry", "--failed"]).output == "0 deliveries will be tried at once.\n"
                )
                #expect(try await postgres.read("SELECT FROM deliveries").count == 2)
            }
        }
    }

    @Test("retry wakes a running service")
    func wakes() async throws {
        try await MailServerPeer.with(.plain) { peer in
            let settings = ["SMTP_URL": "smtp://localhost:\(peer.port)", "MAIL_FROM": "no-reply@example.com"]
            try await ServedSelfie.run(settings: settings) { served in
                let service = served.service
                _ = try await service.signUp(email: "ada@example.com")
                let changed = try await SelfieProcess.run(
                    ["users", "password", "ada@example.com", "--generate"],
                    environment: [
                        "DATABASE_URL": service.databaseURL, "SECRET_KEY_BASE": String(repeating: "x", count: 32),
                    ]
                    .merging(settings) { $1 }
                )
                #expect(changed.status == 0)
                // The command has another secret than the service.
                let failed = "SELECT count(*) FROM deliveries WHERE reason = 'secret_changed'"
                try await poll("failure") { try await service.count("\(part: .init(stringLiteral: failed))") == 1 }
                _ = try await Self.run(service.databaseURL, ["retry", "--failed"])
                try await poll("failure") {
                    try await service.count("SELECT count(*) FROM deliveries WHERE failed_at IS NOT NULL") == 1
                }
            }
        }
    }
}
