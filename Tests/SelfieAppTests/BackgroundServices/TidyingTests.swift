import ConnectionTestSupport
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("What a service tidies up by itself", .timeLimit(.minutes(2)))
struct TidyingTests {
    @Test("Records that have expired go within a minute, whenever the rest is tidied up")
    func expiredRecords() async throws {
        try await TestService.runWithSchema(
            adjust: { service in
                #expect(service.expiryInterval <= .seconds(55))
                service.tidyInterval = .seconds(3_600)
                service.expiryInterval = .milliseconds(20)
            }
        ) { service in
            let ada = try await service.addMember("ada")
            let made = try await service.call(
                "PUT",
                "/api/records/threads/t",
                as: ada,
                #"{"data":{"value":"secret"},"expires_at":"2999-01-01T00:00:00Z"}"#
            )
            #expect(made.status == 200, "\(made.text)")
            try await service.postgres.write("UPDATE records SET expires_at = now() AT TIME ZONE 'UTC'")
            try await poll("no word of it is left") {
                try await service.count("SELECT count(*) FROM records WHERE data IS NOT NULL") == 0
            }
        }
    }

    @Test("A service tidies up by itself, by the lifetime of its own tokens")
    func service() async throws {
        let settings = ["TOKEN_LIFETIME_HOURS": "4800"]
        try await TestService.run(settings: settings, adjust: { $0.tidyInterval = .milliseconds(20) }) { service in
            _ = try await service.signUp(email: "ada@example.com")
            try await service.postgres.write(
                """
                INSERT INTO known_addresses (user_id, network, last_used_at)
                SELECT id, days::text, now() AT TIME ZONE 'UTC' - make_interval(days => days)
                FROM users, unnest('{399, 401}'::integer[]) AS days
                """
            )
            try await poll("an address is forgotten") {
                try await service.count("SELECT count(*) FROM known_addresses WHERE network = '401'") == 0
            }
            #expect(try await service.count("SELECT count(*) FROM known_addresses WHERE network = '399'") == 1)
        }
    }
}
