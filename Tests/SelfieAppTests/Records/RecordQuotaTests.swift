import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Bytes of records", .timeLimit(.minutes(3)))
struct RecordQuotaTests {
    private static let settings = ["RATE_LIMITS": "off", "RECORDS_QUOTA_MB": "1"]

    private static func body(_ bytes: Int) -> String {
        #"{"data":{"t":"\#(String(repeating: "x", count: bytes - 8))"}}"#
    }

    /// Lets a user have used so much that some bytes are left.
    private static func leave(_ bytes: Int, to member: TestMember, _ service: TestService) async throws {
        try await service.postgres.write(
            "UPDATE streams SET byte_count = \(1_048_576 - bytes) WHERE user_id = \(member.userID)"
        )
    }

    @Test("A user's records have as many bytes as the quota, and not one more; deletions give them back")
    func quota() async throws {
        try await TestService.runWithSchema(settings: Self.settings) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/records/inbox/a"
            try await Self.leave(1_000, to: ada, service)
            let refused = try await service.call("PUT", path, as: ada, Self.body(1_001))
            #expect(refused.status == 403 && refused.code == "record_quota_reached")
            #expect(try await service.call("PUT", path, as: ada, Self.body(1_000)).status == 200)
            #expect(try await service.call("PUT", path, as: ada, Self.body(1_001)).status == 403)
            #expect(try await service.call("PUT", path, as: ada, Self.body(999)).status == 200)
            #expect(try await service.call("DELETE", path, as: ada).status == 200)
            #expect(try await service.call("PUT", path, as: ada, Self.body(1_000)).status == 200)
            #expect(try await service.call("PUT", "/api/records/inbox/b", as: bob, Self.body(1_000)).status == 200)
        }
    }

    @Test("A message counts for its sender as it was sent, and what the recipient adds for the recipient")
    func inbox() async throws {
        try await TestService.runWithSchema(settings: Self.settings) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/members/\(bob.id)/records/inbox/m"
            try await Self.leave(1_000, to: ada, service)
            #expect(try await service.call("PUT", path, as: ada, Self.body(1_001)).status == 403)
            #expect(try await service.call("PUT", path, as: ada, Self.body(1_000)).status == 200)
            try await Self.leave(500, to: bob, service)
            #expect(try await service.call("PUT", "/api/records/inbox/m", as: bob, Self.body(1_501)).status == 403)
            #expect(try await service.call("PUT", "/api/records/inbox/m", as: bob, Self.body(1_500)).status == 200)
            #expect(try await service.call("DELETE", "/api/records/inbox/m", as: bob).status == 200)
            // The sender must not notice the deletion, so a message counts as long as it is remembered.
            func expectLeft(_ left: Int, to member: TestMember) async throws {
                let found = try await service.count(
                    "SELECT count(*) FROM streams WHERE user_id = \(member.userID) AND byte_count = \(1_048_576 - left)"
                )
                #expect(found == 1, "\(member.name)")
            }
            try await expectLeft(0, to: ada)
            try await expectLeft(500, to: bob)
            let small = "/api/members/\(bob.id)/records/inbox/small"
            #expect(try await service.call("PUT", small, as: ada, Self.body(10)).status == 403)
            try await service.postgres.write("UPDATE records SET deleted_at = deleted_at - interval '31 days'")
            try await service.postgres.write("UPDATE grants SET ended_at = ended_at - interval '31 days'")
            await RecordEndTests.tidy(service)
            try await expectLeft(1_000, to: ada)
            try await expectLeft(500, to: bob)
        }
    }

    @Test("A writer who makes a record longer uses up its owner's bytes; a thread's last message uses up none")
    func writers() async throws {
        try await TestService.runWithSchema(settings: Self.settings) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let thread = "/api/records/threads/t"
            #expect(
                try await service.call("PUT", thread, as: ada, #"{"data":{},"writers":["\#(bob.id)"]}"#).status == 200
            )
            try await Self.leave(10, to: ada, service)
            #expect(try await service.call("PATCH", thread, as: bob, Self.body(100)).status == 403)
            let unchanged = try await service.count("SELECT count(*) FROM streams WHERE byte_count = \(1_048_576 - 10)")
            #expect(unchanged == 1)
            try await Self.leave(0, to: ada, service)
            let sent = try await service.call(
                "PUT",
                "/api/records/messages/m",
                as: bob,
                #"{"data":{"threadId":"t","text":"x"}}"#
            )
            #expect(sent.status == 200, "\(sent.text)")
            #expect(try await service.call("GET", thread, as: ada).data["lastMessage"] as? String == "m")
        }
    }

    @Test("Deleted records count as long as they are remembered")
    func tombstones() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let house = #"{"data":{"address":"a"}}"#
            #expect(try await service.call("PUT", "/api/records/houses/h", as: ada, house).status == 200)
            try await service.postgres.write("UPDATE streams SET record_count = 99999 WHERE user_id = \(ada.userID)")
            #expect(try await service.call("PUT", "/api/records/houses/i", as: ada, house).status == 200)
            #expect(try await service.call("DELETE", "/api/records/houses/h", as: ada).status == 200)
            let full = try await service.call("PUT", "/api/records/houses/j", as: ada, house)
            #expect(full.status == 403 && full.code == "record_quota_reached")
            try await service.postgres.write("UPDATE records SET deleted_at = deleted_at - interval '31 days'")
            try await service.postgres.write("UPDATE grants SET ended_at = ended_at - interval '31 days'")
            await RecordEndTests.tidy(service)
            #expect(try await service.call("PUT", "/api/records/houses/j", as: ada, house).status == 200)
        }
    }

    @Test("A record is sent in 262,144 bytes at most, and a call in 8,388,608, before anything is looked at")
    func bodies() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            func padded(_ text: String, to bytes: Int) -> String {
                text + String(repeating: " ", count: bytes - text.utf8.count)
            }
            let house = #"{"data":{"address":"a"}}"#
            let path = "/api/records/houses/h"
            #expect(try await service.call("PUT", path, as: ada, padded(house, to: 262_144)).status == 200)
            let large = try await service.call("PUT", path, as: ada, padded(house, to: 262_145))
            #expect(large.status == 413 && large.message == "The request is too large (maximum is 262144 bytes)")
            let most = try await service.call(
                "POST",
                "/api/records/houses",
                as: ada,
                padded("[\(house)]", to: 8_388_608)
            )
            #expect(most.status == 200, "\(most.text.prefix(200))")
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(
                    """
                    POST /api/records/houses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(ada.token)\r\n\
                    Content-Type: application/json\r\nContent-Length: 8388609\r\n\r\n
                    """
                )
                let answer = try await connection.readResponse()
                #expect(answer?.status == 413 && answer?.message?.contains("8388608 bytes") == true)
            }
            #expect(try await service.ids("houses", as: ada).count == 2)
        }
    }
}
