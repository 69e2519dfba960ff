import ConnectionTestSupport
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieCore

@Suite("Accounts that are closed before all their records are deleted", .timeLimit(.minutes(2)))
struct LargeAccountTests {
    @Test("The deletion of a large account is answered when it is closed; the remaining records follow")
    func largeAccount() async throws {
        try await TestService.runWithSchema(adjust: { $0.doesNothingByItself() }) { service in
            let ada = try await service.addMember("ada")
            let houses = "[\(Array(repeating: #"{"data":{"address":"a"}}"#, count: 100).joined(separator: ","))]"
            for _ in 0..<3 {
                #expect(try await service.call("POST", "/api/records/houses", as: ada, houses).status == 200)
            }
            let isDeleted = try await RemoveAccount(postgres: service.postgres)(
                userID: ada.userID,
                passwordHash: nil,
                sessionID: nil,
                isWhole: false
            )
            #expect(isDeleted)
            #expect(try await service.count("SELECT count(*) FROM records WHERE data IS NOT NULL") == 100)
            #expect(try await service.call("GET", "/api/me", as: ada).status == 401)
            await RecordEndTests.tidy(service)
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
            #expect(try await service.count("SELECT count(*) FROM records WHERE data IS NOT NULL") == 0)
        }
    }

    @Test("A failure after the account was closed is none of the request's")
    func failureAfterClosing() async throws {
        try await TestService.runWithSchema(adjust: { $0.doesNothingByItself() }) { service in
            let ada = try await service.addMember("ada")
            let body = #"{"data":{"address":"a"}}"#
            #expect(try await service.call("PUT", "/api/records/houses/h", as: ada, body).status == 200)
            try await service.postgres.write(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no'; END$$"
            )
            try await service.postgres.write(
                "CREATE TRIGGER refused BEFORE UPDATE ON records FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
            let password = try TestService.encrypt("my password")
            #expect(try await service.signUp(email: "eve@example.com").status == 200)
            try await service.postgres.write(
                """
                UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = 'eve@example.com')
                """
            )
            let answer = try await service.call("DELETE", "/api/account?password=\(password.formEncoded)", as: ada)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try await service.count("SELECT count(*) FROM users WHERE leaving_since IS NOT NULL") == 1)
            try await service.postgres.write("DROP TRIGGER refused ON records")
            await RecordEndTests.tidy(service)
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
        }
    }

    @Test("An account whose deletion fails does not stop the deletion of others")
    func oneFails() async throws {
        try await TestService.runWithSchema(adjust: { $0.doesNothingByItself() }) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            for member in [ada, bob] {
                let body = #"{"data":{"address":"a"}}"#
                #expect(try await service.call("POST", "/api/records/houses", as: member, body).status == 200)
            }
            try await service.postgres.write(
                """
                UPDATE users SET disabled_at = now(), leaving_since = now() - id * interval '-1 minute' - interval '1 hour'
                """
            )
            try await service.postgres.write(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                    IF OLD.owner_id = (SELECT min(id) FROM users) THEN RAISE EXCEPTION 'no'; END IF;
                    RETURN NEW;
                END$$
                """
            )
            try await service.postgres.write(
                "CREATE TRIGGER refused BEFORE UPDATE ON records FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
            await #expect(throws: PostgresError.self) {
                try await RemoveAccount(postgres: service.postgres).finishAll()
            }
            #expect(try await service.count("SELECT count(*) FROM users WHERE id = \(ada.userID)") == 1)
            #expect(try await service.count("SELECT count(*) FROM users WHERE id = \(bob.userID)") == 0)
        }
    }
}
