import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie devices, selfie push, and what doctor says of pushes", .timeLimit(.minutes(3)))
struct PushCommandTests {
    @Test("Devices are listed without their tokens, each gets a test, and doctor asks Apple and Google")
    func life() async throws {
        try await PushPeer.with { peer in
            try await TestCluster.withDatabase { url in
                try await PostgresClient.withClient(configuration: .patient(url: url)) { postgres in
                    try await Self.addUsers(postgres)
                }
                var environment = try await peer.settings().merging([
                    "DATABASE_URL": url, "SECRET_KEY_BASE": String(repeating: "secret-key-base-", count: 4),
                    "SSL_CERT_FILE": peer.authorityPath,
                ]) { $1 }
                let list = try await SelfieProcess.run(
                    ["devices", "list", "ada@example.com"],
                    environment: environment
                )
                #expect(list.status == 0 && list.output.contains("abababab…") && list.output.contains("sandbox"))
                #expect(!list.output.contains(String(repeating: "ab", count: 5)))
                let json = try await SelfieProcess.run(
                    ["devices", "list", "ada@example.com", "--json"],
                    environment: environment
                )
                #expect(
                    json.output.contains(#""platform""#) && !json.output.contains(String(repeating: "ab", count: 5))
                )
                let missing = try await SelfieProcess.run(
                    ["devices", "list", "eve@example.com"],
                    environment: environment
                )
                #expect(missing.status == 1 && missing.errors.contains("There is no user eve@example.com."))

                try peer.follow(
                    #"{"devices": {"fcm-1": [{"status": 404, "error": {"status": "NOT_FOUND", "details": [{"errorCode": "UNREGISTERED"}]}}]}}"#
                )
                let test = try await SelfieProcess.run(["push", "test", "ada@example.com"], environment: environment)
                #expect(
                    test.output == "apns abababab…: taken\nfcm fcm-1…: refused (UNREGISTERED)\n" && test.status == 1
                )
                let again = try await SelfieProcess.run(["push", "test", "ada@example.com"], environment: environment)
                #expect(again.output == "apns abababab…: taken\n" && again.status == 0)
                let none = try await SelfieProcess.run(["push", "test", "bob@example.com"], environment: environment)
                #expect(none.status == 1 && none.errors.contains("The account has no device."))

                let zeros = String(repeating: "0", count: 64)
                try peer.follow(
                    #"{"devices": {"\#(zeros)": [{"status": 400, "reason": "BadDeviceToken"}], "0": [{"status": 400, "error": {"status": "INVALID_ARGUMENT"}}]}}"#
                )
                let well = try await SelfieProcess.run(
                    ["doctor", "--migrations", ServedSelfie.migrationsPath],
                    environment: environment
                )
                #expect(
                    well.output.contains("Apple knows the service") && well.output.contains("Google knows the service")
                )
                try peer.follow(
                    #"{"devices": {"\#(zeros)": [{"status": 403, "reason": "InvalidProviderToken"}], "0": [{"status": 403}]}}"#
                )
                let ill = try await SelfieProcess.run(
                    ["doctor", "--migrations", ServedSelfie.migrationsPath],
                    environment: environment
                )
                #expect(ill.output.contains("Apple refuses the service: InvalidProviderToken"), "\(ill.output)")
                #expect(ill.output.contains("Google refuses the service: 403") && ill.status != 0)
                environment["APNS_URL"] = "https://localhost:1"
                let unreachable = try await SelfieProcess.run(
                    ["doctor", "--migrations", ServedSelfie.migrationsPath],
                    environment: environment
                )
                #expect(unreachable.output.contains("Apple can't be reached"))
                #expect(!(well.output + ill.output + unreachable.output).contains("PRIVATE KEY"))
            }
        }
    }

    private static func addUsers(_ postgres: PostgresClient) async throws {
        try await postgres.write(
            """
            WITH added AS (
                INSERT INTO users (first_name, last_name, email, password_hash)
                VALUES ('Ada', 'L', 'ada@example.com', 'none'), ('Bob', 'B', 'bob@example.com', 'none') RETURNING id, email
            ), session AS (
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT id, sha256(convert_to('token', 'UTF8')), now() + interval '1 day' FROM added WHERE email LIKE 'ada%'
                RETURNING id, user_id
            )
            INSERT INTO devices (session_id, user_id, platform, token, environment)
            SELECT id, user_id, 'apns', repeat('ab', 32), 'sandbox' FROM session
            UNION ALL SELECT id, user_id, 'fcm', 'fcm-1', 'production' FROM session
            """
        )
    }
}
