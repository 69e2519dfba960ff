import Budgets
import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfieWeb

@Suite("What answers hold while clients read them slowly", .timeLimit(.minutes(2)))
struct AnswerMemoryTests {
    @Test(
        "A page counts until its last byte is taken, and others are told to come again",
        arguments: ["/api/records/threads?limit=50", "/api/changes?limit=100"]
    )
    func slowReader(path: String) async throws {
        let budget = ByteBudget<Int>(maxBytes: 5 << 19, maxBytesPerHolder: 5 << 19)
        try await TestService.runWithSchema(adjust: { $0.listBudget.answers = budget }) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            // More than a page's megabyte, and far more than the sockets' buffers.
            let text = String(repeating: "x", count: 60_000)
            for number in 0..<20 {
                let body = #"{"data":{"value":"\#(text)"}}"#
                let put = try await service.call("PUT", "/api/records/threads/t\(number)", as: ada, body)
                #expect(put.status == 200, "\(put.text)")
            }
            try await poll("the answers are sent") { budget.bytesUsed == 0 }
            try await RawConnection.open(port: service.port, receiveBufferBytes: 16 << 10) { connection in
                try await connection.send(
                    "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(ada.token)\r\nConnection: close\r\n\r\n"
                )
                var connection = connection
                let begin = try await connection.readSome()
                #expect(begin.starts(with: Data("HTTP/1.1 200 ".utf8)))
                #expect((1_000_000...5 << 19).contains(budget.bytesUsed), "\(budget.bytesUsed)")
                let refused = try await service.send("GET", path, headers: [("Authorization", "Token \(bob.token)")])
                #expect(refused.status == 503)
                #expect(try await service.call("GET", "/api/me", as: bob).status == 200)
                let rest = try await connection.readToEnd()
                #expect(begin.count + rest.count > 1_000_000)
            }
            try await poll("the memory is free again") { budget.bytesUsed == 0 }
            #expect(try await service.call("GET", path, as: bob).status == 200)
        }
    }

    @Test("What a client that leaves has not taken is given back, and so is an answer that is compressed")
    func ends() async throws {
        let budget = ByteBudget<Int>(maxBytes: 128 << 20, maxBytesPerHolder: 16 << 20)
        try await TestService.runWithSchema(adjust: { $0.listBudget.answers = budget }) { service in
            let ada = try await service.addMember("ada")
            let text = String(repeating: "x", count: 40_000)
            for number in 0..<20 {
                let body = #"{"data":{"value":"\#(text)"}}"#
                #expect(try await service.call("PUT", "/api/records/threads/t\(number)", as: ada, body).status == 200)
            }
            // A page that is compressed as a whole, and one that is compressed while the client reads.
            for limit in [1, 50] {
                let answer = try await service.send(
                    "GET",
                    "/api/records/threads?limit=\(limit)",
                    headers: [("Authorization", "Token \(ada.token)"), ("Accept-Encoding", "gzip")]
                )
                #expect(answer.status == 200 && answer.headers["content-encoding"] == "gzip")
            }
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send(
                    "GET /api/records/threads HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(ada.token)\r\n\r\n"
                )
                var connection = connection
                _ = try await connection.readSome()
            }
            try await poll("the memory is free again") { budget.bytesUsed == 0 }
        }
    }

    @Test("A user has memory for eight pages at once, of the largest size, and all users for 64")
    func limits() throws {
        let budget = ListBudget().answers
        let first = try (0..<8).map { _ in
            let reservation = ByteReservation(of: budget, for: 1)
            try reservation.grow(by: 2 << 20)
            return reservation
        }
        #expect(throws: NoBytes.holderHasAll) { try ByteReservation(of: budget, for: 1).grow(by: 1) }
        first[0].shrink(to: 1_000)
        #expect(first[0].byteCount == 1_000)
        #expect(budget.bytesUsed == 7 * (2 << 20) + 1_000)
        first[0].shrink(to: 2_000)
        #expect(budget.bytesUsed == 7 * (2 << 20) + 1_000)
        let others = try (2..<58).map { user in
            let reservation = ByteReservation(of: budget, for: user)
            try reservation.grow(by: 2 << 20)
            return reservation
        }
        #expect(throws: NoBytes.allTaken) { try ByteReservation(of: budget, for: 99).grow(by: 2 << 20) }
        withExtendedLifetime((first, others)) {}
    }
}
