import Budgets
import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp
@testable import SelfieWeb

@Suite("What answers hold while clients read them slowly", .timeLimit(.minutes(2)))
struct AnswerMemoryTests {
    @Test(
        "A page counts until its last byte is sent, and others are told to retry",
        arguments: ["/api/records/threads?limit=50", "/api/changes?limit=100"]
    )
    func slowReader(path: String) async throws {
        let budget = Permits.ofBytes(5 << 19)
        try await TestService.runWithSchema(adjust: { $0.permits.answers = budget }) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            // More than a page's megabyte, and far more than the sockets' buffers.
            try await service.addThreads(0..<20, bytes: 60_000, as: ada)
            try await poll("the answers are sent") { budget.inUse == 0 }
            try await RawConnection.open(port: service.port, receiveBufferBytes: 16 << 10) { connection in
                try await connection.send(
                    "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(ada.token)\r\nConnection: close\r\n\r\n"
                )
                var connection = connection
                let begin = try await connection.readSome()
                #expect(begin.starts(with: Data("HTTP/1.1 200 ".utf8)))
                #expect((1_000_000...5 << 19).contains(budget.inUse), "\(budget.inUse)")
                let refused = try await service.send("GET", path, headers: [("Authorization", "Token \(bob.token)")])
                #expect(refused.status == 503)
                #expect(try await service.call("GET", "/api/me", as: bob).status == 200)
                let rest = try await connection.readToEnd()
                #expect(begin.count + rest.count > 1_000_000)
            }
            try await poll("the memory is free again") { budget.inUse == 0 }
            #expect(try await service.call("GET", path, as: bob).status == 200)
        }
    }

    @Test("One session holds at most its share of what its user may hold, and another one has the rest")
    func sessions() async throws {
        // A session has half, which is room for one page of a megabyte, whose memory is twice as large.
        let budget = Permits.ofBytes(128 << 20, perUser: 6 << 20)
        try await TestService.runWithSchema(adjust: { service in
            service.permits.answers = budget
            service.limits.writeTimeout = .hours(1)
        }) { service in
            let ada = try await service.addMember("ada")
            try await service.addThreads(0..<20, bytes: 60_000, as: ada)
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT user_id, sha256('second-token-of-ada'), expires_at FROM sessions
                """
            )
            let target = "/api/records/threads?limit=50"
            let readers = try SlowReaders(1, port: service.port) { _ in Self.request("GET", target, token: ada.token) }
            try await poll("the page has begun") { readers.texts[0].utf8.count >= 4_096 }
            #expect((1_000_000...3 << 20).contains(budget.inUse), "\(budget.inUse)")
            let refused = try await service.call("GET", target, as: ada)
            #expect(refused.status == 429 && refused.code == "too_many_at_once", "\(refused.text)")
            let other = try await service.send("GET", target, headers: [("Authorization", "Token second-token-of-ada")])
            #expect(other.status == 200 && other.records.count > 10)
            await readers.close()
            try await poll("the memory is free again") { budget.inUse == 0 }
            #expect(try await service.call("GET", target, as: ada).status == 200)
        }
    }

    @Test("Small changes of many large records are refused beforehand if their answers would exceed the memory")
    func batches() async throws {
        // A session has half, which is room for a hundred records of 64 KiB, and not for as many again.
        let budget = Permits.ofBytes(128 << 20, perUser: 18_000_000)
        try await TestService.runWithSchema(adjust: { service in
            service.permits.answers = budget
            service.limits.writeTimeout = .hours(1)
        }) { service in
            let ada = try await service.addMember("ada")
            for group in 0..<3 { try await service.addThreads(group * 100..<group * 100 + 100, bytes: 40_000, as: ada) }
            try await poll("the answers are sent") { budget.inUse == 0 }
            let changes = (0..<3).map { group in
                let elements = (group * 100..<group * 100 + 100).map { #"{"id":"t\#($0)","data":{"a":1}}"# }
                return "[\(elements.joined(separator: ","))]"
            }
            let readers = try SlowReaders(3, port: service.port) { number in
                Self.request("PATCH", "/api/records/threads", token: ada.token, changes[number])
            }
            try await poll("all are answered") { readers.texts.allSatisfy { $0.contains("\r\n\r\n") } }
            let statuses = readers.texts.map { $0.dropFirst("HTTP/1.1 ".count).prefix(3) }
            #expect(statuses.sorted() == ["200", "429", "429"])
            #expect((4_000_000...9_000_000).contains(budget.inUse), "\(budget.inUse)")
            #expect(try await service.count("SELECT count(*) FROM records WHERE version > 1") == 100)
            for (status, change) in zip(statuses, changes) where status == "429" {
                let again = try await service.call("PATCH", "/api/records/threads", as: ada, change)
                #expect(again.status == 429 && again.code == "too_many_at_once", "\(again.text)")
            }
            await readers.close()
            try await poll("the memory is free again") { budget.inUse == 0 }
            #expect(try await service.call("PATCH", "/api/records/threads", as: ada, changes[0]).status == 200)
        }
    }

    @Test("An answer longer than expected is refused for a read, and sent for a change")
    func longer() async throws {
        // A session has half, which is more than is expected of one record, and less than the memory of one with 64 KiB.
        let budget = Permits.ofBytes(128 << 20, perUser: 200_000)
        try await TestService.runWithSchema(adjust: { $0.permits.answers = budget }) { service in
            let ada = try await service.addMember("ada")
            let body = #"{"data":{"value":"\#(String(repeating: "x", count: 65_500))"}}"#
            let put = try await service.call("PUT", "/api/records/threads/t", as: ada, body)
            #expect(put.status == 200 && put.body.count > 65_536)
            try await poll("the answer is sent") { budget.inUse == 0 }
            let refused = try await service.call("GET", "/api/records/threads/t", as: ada)
            #expect(refused.status == 429 && refused.code == "too_many_at_once", "\(refused.text)")
            #expect(budget.inUse == 0)
        }
    }

    /// A call whose answer is larger than what the system's buffers take.
    struct Call: Sendable, CustomTestStringConvertible {
        let method: String
        let target: String
        var body: String?
        var headers = ""

        var testDescription: String { "\(method) \(target) \(headers)" }

        static let all: [Call] = {
            let thread = #"{"data":{"value":"\#(text)"}}"#
            let threads = (0..<10).map { _ in #"{"data":{"value":"\#(text.prefix(6_000))"}}"# }
            return [
                Call(method: "GET", target: "/api/records/threads/t0"),
                Call(method: "GET", target: "/api/records/threads/t0", headers: "Accept-Encoding: gzip\r\n"),
                // More than 64 KiB: it is compressed while the client reads.
                Call(method: "GET", target: "/api/records/threads?limit=50", headers: "Accept-Encoding: gzip\r\n"),
                Call(method: "PUT", target: "/api/records/threads/new", body: thread),
                Call(method: "PATCH", target: "/api/records/threads/t0", body: #"{"data":{"a":1}}"#),
                Call(method: "POST", target: "/api/records/threads", body: thread),
                Call(method: "POST", target: "/api/records/threads", body: "[\(threads.joined(separator: ","))]"),
                Call(method: "PATCH", target: "/api/records/threads", body: #"[{"id":"t0","data":{"a":1}}]"#),
                Call(method: "GET", target: "/api/members?limit=100"),
                Call(method: "GET", target: "/api/roles/team/members?limit=100"),
                Call(method: "GET", target: "/api/blocks"),
                Call(method: "GET", target: "/api/sessions"),
            ]
        }()

        /// 60 kB that hardly become smaller.
        static let text: String = {
            var generator = SplitMix64(seed: 1)
            return Data((0..<45_000).map { _ in UInt8.random(in: 0...255, using: &generator) }).base64EncodedString()
        }()
    }

    @Test("Any answer that the system does not take at once counts until its last byte is taken", arguments: Call.all)
    func slowAnswer(call: Call) async throws {
        let budget = Permits.ofBytes(128 << 20, perUser: 16 << 20)
        try await TestService.runWithSchema(adjust: { service in
            service.permits.answers = budget
            service.limits.maxUnsentBytes = 4_096
            service.limits.writeTimeout = .hours(1)
        }) { service in
            let ada = try await service.addMember("ada", role: "leads")
            let thread = #"{"data":{"value":"\#(Call.text)"}}"#
            for id in ["t0", "t1", "t2"] {
                #expect(try await service.call("PUT", "/api/records/threads/\(id)", as: ada, thread).status == 200)
            }
            try await service.postgres.write(
                """
                WITH added AS (
                    INSERT INTO users (first_name, last_name, email, password_hash, profile)
                    SELECT repeat('x', 200), repeat('y', 50), 'm' || n || '@example.com', 'none',
                        json_build_object('about', repeat('z', 1000))
                    FROM generate_series(1, 1000) AS n RETURNING id
                ), blocked AS (INSERT INTO blocks (user_id, blocked_user_id) SELECT \(ada.userID)::integer, id FROM added)
                INSERT INTO role_members (role_id, user_id) SELECT roles.id, added.id FROM roles, added WHERE name = 'team'
                """
            )
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at, device)
                SELECT user_id, sha256(n::text::bytea), expires_at, repeat('x', 255)
                FROM sessions, generate_series(1, 99) AS n
                """
            )
            try await poll("the answers are sent") { budget.inUse == 0 }
            let readers = try SlowReaders(1, port: service.port) { _ in
                Self.request(call.method, call.target, token: ada.token, call.body, headers: call.headers)
            }
            try await poll("the answer has begun") { readers.texts[0].utf8.count >= 4_096 }
            let text = readers.texts[0]
            #expect(text.hasPrefix("HTTP/1.1 200 "), "\(text.prefix(500))")
            #expect(text.lowercased().contains("content-encoding: gzip") == !call.headers.isEmpty)
            #expect((16_385...262_144).contains(budget.inUse), "\(budget.inUse)")
            await readers.close()
            try await poll("the memory is free again") { budget.inUse == 0 }
        }
    }

    @Test("On any connection, the system buffers little of an answer whose client reads nothing")
    func unsentBytes() async throws {
        try await TestService.runWithSchema(adjust: { $0.limits.writeTimeout = .hours(1) }) { service in
            let ada = try await service.addMember("ada")
            try await service.addThreads(0..<20, bytes: 60_000, as: ada)
            let readers = try SlowReaders(1, port: service.port) { _ in
                Self.request("GET", "/api/records/threads?limit=50", token: ada.token)
            }
            try await poll("the answer has begun") { readers.texts[0].utf8.count >= 4_096 }
            // `TCP_NOTSENT_LOWAT` (Linux, include/uapi/linux/tcp.h).
            let values = ServerConnections.values(of: 25, port: service.port)
            #expect(!values.isEmpty && values.allSatisfy { $0 == 32_768 }, "\(values)")
            let held = ServerConnections.heldBytes(port: service.port)
            #expect(held.contains { $0 > 1_000 } && held.allSatisfy { $0 < 131_072 }, "\(held)")
            await readers.close()
        }
    }

    private static func request(
        _ method: String,
        _ target: String,
        token: String,
        _ body: String? = nil,
        headers: String = ""
    ) -> String {
        let body = body.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)" }
        return "\(method) \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(token)\r\n\(headers)"
            + (body ?? "\r\n")
    }

    @Test("What a client that leaves has not taken is given back, and so is an answer that is compressed")
    func ends() async throws {
        let budget = Permits.ofBytes(128 << 20, perUser: 16 << 20)
        try await TestService.runWithSchema(adjust: { $0.permits.answers = budget }) { service in
            let ada = try await service.addMember("ada")
            try await service.addThreads(0..<20, bytes: 40_000, as: ada)
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
            try await poll("the memory is free again") { budget.inUse == 0 }
        }
    }
}

extension TestService {
    /// Makes large records with one call.
    fileprivate func addThreads(_ numbers: Range<Int>, bytes: Int, as member: TestMember) async throws {
        let text = String(repeating: "x", count: bytes)
        let records = numbers.map { #"{"id":"t\#($0)","data":{"value":"\#(text)"}}"# }
        let answer = try await call("POST", "/api/records/threads", as: member, "[\(records.joined(separator: ","))]")
        #expect(answer.status == 200, "\(answer.text.prefix(500))")
    }
}
