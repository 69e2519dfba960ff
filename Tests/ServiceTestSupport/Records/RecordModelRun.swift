import ConnectionTestSupport
import Foundation
import Postgres
import TestSupport
import Testing

/// Random calls by 8 clients, at two services, beside a model that says what their answers are.
package struct RecordModelRun: Sendable {
    /// How many times each client makes a call.
    let roundCount: Int

    /// - Parameter roundCount: How many times each client makes a call.
    package init(roundCount: Int) {
        self.roundCount = roundCount
    }

    private static let collections = ["houses", "threads", "news", "priorities", "inbox"]
    private static let team: Set = [0, 1, 2, 3]
    private static let leads: Set = [3, 4]
    private static let blocks: Set = [[5, 0], [6, 1], [2, 7]]

    /// Makes the calls, and expects that each answer and each list is as the model says.
    package func run() async throws {
        try await TestService.runTwoWithSchema { first, second in
            var generator = SplitMix64(seed: 19)
            var members: [TestMember] = []
            for number in 0..<8 { members.append(try await first.addMember("member\(number)")) }
            for number in Self.team { try await first.add(members[number].userID, to: "team") }
            for number in Self.leads { try await first.add(members[number].userID, to: "leads") }
            for pair in Self.blocks {
                try await first.postgres.write(
                    """
                    INSERT INTO blocks (user_id, blocked_user_id)
                    VALUES (\(members[pair[0]].userID), \(members[pair[1]].userID))
                    """
                )
            }
            var model = RecordModel(team: Self.team, leads: Self.leads, blocks: Self.blocks)
            for round in 0..<roundCount {
                var calls: [RecordModel.Call] = []
                while calls.count < 8 {
                    let call = Self.call(by: calls.count, &generator)
                    // Two calls about one record at once have no certain answer.
                    if !calls.contains(where: { $0.name == call.name }) { calls.append(call) }
                }
                let answers = try await Self.answers(to: calls, members: members, at: [first, second])
                for (call, answer) in zip(calls, answers) {
                    var expected = model.answer(to: call, round: round)
                    if expected.status == 200, expected.version == nil, call.method != .delete {
                        expected.version = answer.version
                    }
                    #expect(answer == expected, "round \(round): \(call)")
                }
                if round % 25 == 24 || round == roundCount - 1 {
                    try await Self.expectLists(of: members, as: model, at: [first, second])
                }
            }
            try await first.expectSoundStreams()
            #expect(model.records.count > 20)
        }
    }

    private static func call(by member: Int, _ generator: inout SplitMix64) -> RecordModel.Call {
        let collection = collections.randomElement(using: &generator) ?? ""
        func names() -> Set<Int>? {
            guard collection == "threads", Bool.random(using: &generator) else { return nil }
            return Set(
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in Int.random(in: 0..<8, using: &generator) }
            )
        }
        let method = RecordModel.Call.Method.allCases.randomElement(using: &generator) ?? .get
        let writes = [.post, .put, .patch].contains(method)
        return RecordModel.Call(
            method: method,
            name: RecordModel.Name(
                collection: collection,
                inbox: collection == "inbox" ? Int.random(in: 0..<8, using: &generator) : nil,
                id: "r\(Int.random(in: 0..<(collection == "inbox" ? 2 : 8), using: &generator))"
            ),
            member: member,
            value: Int.random(in: 0..<3, using: &generator),
            readers: writes ? names() : nil,
            writers: writes ? names() : nil
        )
    }

    private static func answers(
        to calls: [RecordModel.Call],
        members: [TestMember],
        at services: [TestService]
    ) async throws -> [RecordModel.Answer] {
        try await withThrowingTaskGroup(of: (Int, RecordModel.Answer).self) { tasks in
            for (index, call) in calls.enumerated() {
                tasks.addTask {
                    (index, try await answer(to: call, members: members, at: services[index % services.count]))
                }
            }
            var answers: [Int: RecordModel.Answer] = [:]
            for try await (index, answer) in tasks { answers[index] = answer }
            return calls.indices.compactMap { answers[$0] }
        }
    }

    private static func answer(
        to call: RecordModel.Call,
        members: [TestMember],
        at service: TestService
    ) async throws -> RecordModel.Answer {
        let inbox = call.name.inbox.map { "/members/\(members[$0].id)" } ?? ""
        let path = "/api\(inbox)/records/\(call.name.collection)"
        var body: String?
        if [.post, .put, .patch].contains(call.method) {
            var members1: [String] = []
            let field = call.name.collection == "houses" ? "address" : "name"
            let isTitled = call.name.collection == "news"
            members1.append(
                call.name.collection == "threads"
                    ? #""data":{"value":\#(call.value)}"#
                    : #""data":{"\#(isTitled ? "title" : field)":"\#(call.value)"}"#
            )
            if call.method == .post { members1.append(#""id":"\#(call.name.id)""#) }
            for (name, numbers) in [("readers", call.readers), ("writers", call.writers)] {
                guard let numbers else { continue }
                let ids = numbers.sorted().map { "\"\(members[$0].id)\"" }.joined(separator: ",")
                members1.append("\"\(name)\":[\(ids)]")
            }
            body = "{\(members1.joined(separator: ","))}"
        }
        let answer = try await service.call(
            call.method.rawValue,
            call.method == .post ? path : "\(path)/\(call.name.id)",
            as: members[call.member],
            body
        )
        let value = answer.data.values.first
        return RecordModel.Answer(
            status: answer.status,
            value: (value as? String).flatMap { Int($0) } ?? value as? Int,
            version: answer.json["version"] as? Int
        )
    }

    private static func expectLists(
        of members: [TestMember],
        as model: RecordModel,
        at services: [TestService]
    ) async throws {
        for (number, member) in members.enumerated() {
            let service = services[number % services.count]
            for collection in collections {
                guard let expected = model.list(collection, of: number) else {
                    #expect(try await service.call("GET", "/api/records/\(collection)", as: member).status == 404)
                    continue
                }
                let ids = try await service.ids(collection, as: member)
                let rounds = Dictionary(expected.map { ($0.id, $0.round) }) { $1 }
                // Those of one round were created at the same time.
                #expect(Set(ids) == Set(rounds.keys) && ids.count == expected.count, "\(collection) of \(number)")
                #expect(ids.compactMap { rounds[$0] } == expected.map(\.round), "\(collection) of \(number)")
            }
        }
    }
}
