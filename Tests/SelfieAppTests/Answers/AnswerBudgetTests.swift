import Budgets
import ConnectionTestSupport
import NIOCore
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp
@testable import SelfieWeb

/// How users share the memory of answers.
@Suite("How the memory of answers is shared", .timeLimit(.minutes(2)))
struct AnswerBudgetTests {
    private static let target = "/api/records/news?limit=50"

    /// Members, and news of which a page takes two MiB.
    private static func run(
        _ budget: Permits<Int>,
        minTime: Duration,
        _ body: @Sendable (TestService, [TestMember]) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema(adjust: { service in
            service.permits.answers = budget
            service.permits.minTimeOfAnswers = minTime
            service.limits.writeTimeout = .hours(1)
        }) { service in
            var members: [TestMember] = []
            for name in ["ada", "bob", "cleo", "dan", "eve"] { members.append(try await service.addMember(name)) }
            let text = String(repeating: "x", count: 60_000)
            for number in 0..<20 {
                try await service.put("news/n\(number)", as: members[0], #"{"data":{"title":"t","text":"\#(text)"}}"#)
            }
            try await poll("the answers are sent") { budget.inUse == 0 }
            try await body(service, members)
        }
    }

    private static func request(_ member: TestMember) -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(member.token)\r\n\r\n"
    }

    private static func readers(_ members: [TestMember], of service: TestService) throws -> SlowReaders {
        try SlowReaders(members.count, port: service.port) { request(members[$0]) }
    }

    @Test("The oldest answer of the user with the most is ended for a user with less: for a page and a change")
    func ended() async throws {
        let budget = Permits.ofBytes(8 << 20, perUser: 8 << 20)
        try await Self.run(budget, minTime: .zero) { service, members in
            let (ada, bob, cleo, dan) = (members[0], members[1], members[2], members[3])
            try await RawConnection.open(port: service.port, receiveBufferBytes: 16 << 10) { first in
                var first = first
                try await first.send(Self.request(ada))
                let begin = try await first.readSome()
                let readers = try Self.readers([ada, bob, cleo], of: service)
                try await poll("all are answered") { readers.begunCount == 3 }
                #expect(budget.inUse(by: ada.userID) > 3 << 20 && budget.inUse > 7 << 20)
                let last = try Self.readers([dan], of: service)
                try await poll("the last one is answered") { last.begunCount == 1 }
                #expect(last.texts[0].hasPrefix("HTTP/1.1 200 "))
                // It is the first one of Ada, whose client gets less than it was promised.
                #expect((1 << 20...5 << 19).contains(budget.inUse(by: ada.userID)))
                for member in [bob, cleo, dan] { #expect(budget.inUse(by: member.userID) > 1 << 20) }
                let rest = try? await first.readToEnd()
                #expect(begin.count + (rest?.count ?? 0) < 1_000_000)
                try await service.put("news/other", as: members[4], #"{"data":{"title":"t"}}"#)
                await readers.close()
                await last.close()
            }
            try await poll("the memory is free again") { budget.inUse == 0 }
        }
    }

    @Test("An answer that has just begun is not ended, and the next user is told to retry")
    func young() async throws {
        let budget = Permits.ofBytes(3 << 20, perUser: 4 << 20)
        try await Self.run(budget, minTime: .seconds(3_600)) { service, members in
            let readers = try Self.readers([members[0]], of: service)
            try await poll("it is answered") { readers.begunCount == 1 }
            let headers = [("Authorization", "Token \(members[2].token)")]
            let refused = try await service.send("GET", Self.target, headers: headers)
            #expect(refused.status == 503 && refused.code == "service_unavailable", "\(refused.text)")
            await readers.close()
        }
    }

    @Test("For a small change of the user with the most, the oldest of the user's own answers is ended")
    func smallChange() async throws {
        // One session may hold as much as there is, so that only what all have is spent.
        let budget = Permits.ofBytes(8 << 20, perUser: 16 << 20)
        try await Self.run(budget, minTime: .zero) { service, members in
            let (ada, bob, cleo) = (members[0], members[1], members[2])
            let readers = try Self.readers([ada, ada, bob, cleo], of: service)
            try await poll("all are answered") { readers.begunCount == 4 }
            #expect(budget.inUse == 8_388_608 && budget.inUse(by: ada.userID) == 4_194_304)
            try await service.put("news/other", as: ada, #"{"data":{"title":"t"}}"#)
            #expect(budget.inUse(by: ada.userID) < 2_200_000)
            for member in [bob, cleo] { #expect(budget.inUse(by: member.userID) == 2_097_152) }
            await readers.close()
        }
    }

    @Test("Large changes of a hundred large records fit one session")
    func largeBatch() async throws {
        let budget = WebPermits().answers
        try await Self.run(budget, minTime: .seconds(30)) { service, members in
            for (method, letter) in [("POST", "x"), ("PATCH", "y")] {
                try await poll("the answer before is sent") { budget.inUse == 0 }
                let text = String(repeating: letter, count: 50_000)
                let records = (0..<100).map { #"{"id":"t\#($0)","data":{"value":"\#(text)"}}"# }
                let answer = try await service.call(
                    method,
                    "/api/records/threads",
                    as: members[0],
                    "[\(records.joined(separator: ","))]"
                )
                #expect(answer.status == 200, "\(answer.text.prefix(500))")
            }
            #expect(try await service.count("SELECT count(*) FROM records WHERE version = 2") == 100)
        }
    }

    @Test("Two parallel small changes of a hundred small records are admitted")
    func smallBatches() async throws {
        let budget = WebPermits().answers
        try await Self.run(budget, minTime: .seconds(30)) { service, members in
            let all = (0..<100).map { #"{"id":"t\#($0)","data":{}}"# }.joined(separator: ",")
            let made = try await service.call("POST", "/api/records/threads", as: members[0], "[\(all)]")
            #expect(made.status == 200)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { calls in
                for _ in 0..<8 {
                    calls.addTask {
                        try await service.call("PATCH", "/api/records/threads", as: members[0], "[\(all)]").status
                    }
                }
                return try await calls.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses)")
        }
    }

    @Test("A session has memory for six pages of the largest size, a user for twelve, and all users for 64")
    func limits() throws {
        #expect(AnswerMemory.maxPageBytes == 2_097_152)
        #expect(AnswerMemory.maxSmallBytes == 81_920)
        #expect(RecordBodies.pageBytes(1) == 81_920 && RecordBodies.pageBytes(200) == 2_097_152)
        #expect([1, 2, 3, 4_096, 4_097].map(AnswerMemory.bufferBytes) == [1, 2, 4, 4_096, 8_192])
        #expect(AnswerMemory.maxUnsharedBytes == 16_384)
        #expect(RecordBodies.maxRecordAnswerBytes == 81_920)
        #expect(WebPermits().minTimeOfAnswers == .seconds(30))
        let budget = WebPermits().answers
        let sessions = AnswerMemory.Budget(budget, minTime: .zero).sessions
        #expect(throws: TooBusy.holder(limit: "MEMORY_PER_USER")) { try sessions.acquire(12_582_913, for: 1) }
        _ = try sessions.acquire(12_582_912, for: 1)
        #expect(throws: TooBusy.holder(limit: "MEMORY_PER_USER")) { try budget.acquire(25_165_825, for: 1) }
        _ = try budget.acquire(25_165_824, for: 1)
        let others = try (1...64).map { try budget.acquire(2 << 20, for: $0) }
        #expect(budget.inUse == 134_217_728)
        #expect(throws: TooBusy.everyone(limit: "MEMORY")) { try budget.acquire(for: 99) }
        withExtendedLifetime(others) {}
    }
}
