import Budgets
import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import SelfieWeb
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

@Suite("The memory that bodies with records share", .timeLimit(.minutes(2)))
struct RecordBodyMemoryTests {
    /// A body with one record, and white space before it.
    private static func body(bytes: Int) -> String {
        let record = #"{"data":{"value":1}}"#
        return String(repeating: " ", count: bytes - record.utf8.count) + record
    }

    /// Sends a call whose body lacks its last byte.
    private static func begin(_ bytes: Int, over connection: RawConnection, as member: TestMember) async throws {
        try await connection.send(
            """
            POST /api/records/threads HTTP/1.1\r
            Host: a\r
            Authorization: Token \(member.token)\r
            Content-Type: application/json\r
            Content-Length: \(bytes + 1)\r
            \r
            \(body(bytes: bytes + 1).dropLast())
            """
        )
    }

    private static func send(_ bytes: Int, _ service: TestService, as member: TestMember) async throws -> HTTPAnswer {
        try await service.send(
            "POST",
            "/api/records/threads",
            headers: [("Authorization", "Token \(member.token)"), ("Content-Type", "application/json")],
            body: Data(body(bytes: bytes).utf8)
        )
    }

    @Test("A body counts while it comes: its user is refused beyond a share, and all others when too little is left")
    func shared() async throws {
        let budget = Permits.ofBytes(250_000, perUser: 150_000)
        try await TestService.runWithSchema(adjust: { service in
            service.permits.recordBodies = budget
            service.limits.bodyWindow = .hours(1)
            service.limits.bodyTimeout = .hours(1)
        }) { service in
            let ada = try await service.addMember("ada")
            let (bob, cleo) = (try await service.addMember("bob"), try await service.addMember("cleo"))
            try await RawConnection.open(port: service.port) { first in
                try await Self.begin(100_000, over: first, as: ada)
                try await poll("the body is held") { budget.inUse == 100_000 }
                let second = try await Self.send(60_000, service, as: ada)
                #expect(second.status == 429 && second.code == "too_many_at_once", "\(second.text)")
                #expect(try await service.count("SELECT count(*) FROM records") == 0)
                try await poll("what was refused is given back") { budget.inUse == 100_000 }

                try await RawConnection.open(port: service.port) { other in
                    try await Self.begin(50_000, over: other, as: bob)
                    try await poll("both bodies are held") { budget.inUse == 150_000 }
                    let refused = try await Self.send(120_000, service, as: cleo)
                    #expect(refused.status == 503 && refused.code == "service_unavailable", "\(refused.text)")
                    #expect(try await service.count("SELECT count(*) FROM records") == 0)
                    #expect(try await Self.send(1_000, service, as: cleo).status == 200)
                }
                try await poll("who leaves gives it back") { budget.inUse == 100_000 }
                #expect(try await Self.send(60_000, service, as: cleo).status == 200)

                try await first.send("}")
                let answer = try await first.readResponse()
                #expect(answer?.status == 200, "\(answer?.text ?? "nothing")")
            }
            try await poll("all is given back") { budget.inUse == 0 }
            let (own, all) = (
                try await service.count("SELECT count(*) FROM records WHERE owner_id = \(ada.userID)"),
                try await service.count("SELECT count(*) FROM records")
            )
            #expect(own == 1 && all == 3, "\(own) \(all)")
        }
    }

    @Test("All bodies have 64 MiB, and those of one user 16 MiB")
    func limits() throws {
        let budget = WebPermits().recordBodies
        let permits = try (1...4).map { user in
            #expect(throws: TooBusy.holder(limit: "MEMORY_PER_USER")) { try budget.acquire(16_777_217, for: user) }
            return try budget.acquire(16_777_216, for: user)
        }
        #expect(budget.inUse == 67_108_864)
        #expect(throws: TooBusy.everyone(limit: "MEMORY")) { try budget.acquire(for: 5) }
        withExtendedLifetime(permits) {}
    }
}
