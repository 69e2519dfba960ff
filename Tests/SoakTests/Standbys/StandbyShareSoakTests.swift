import ConnectionTestSupport
import Curl
import DatabaseTestSupport
import Foundation
import NIOHTTP1
import ServiceTestSupport
import Testing

/// What a list costs the primary, with a standby and without.
@Suite("The primary's share of lists", .serialized, .timeLimit(.minutes(20)))
struct StandbyShareSoakTests {
    private static let (userCount, itemCount) = (8, 20)
    /// Lists of each round, after some that warm up.
    private static let (listCount, roundCount) = (800, 2)

    /// Sends a call often, from eight clients.
    private static func repeatCall(
        _ target: String,
        _ count: Int,
        by members: [TestMember],
        _ service: TestService
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for member in members {
                tasks.addTask {
                    for _ in 0..<count / members.count {
                        var request = CurlRequest(url: service.origin + target)
                        request.headers = ["Authorization": "Bearer \(member.token)"]
                        let answer = try await CurlClient.shared.answer(
                            to: request,
                            within: .seconds(60),
                            maxBytes: 1 << 20
                        )
                        #expect(answer.status == .ok)
                    }
                }
            }
            try await tasks.waitForAll()
        }
    }

    @Test(
        "With a standby, a list takes at most 0.3 of the primary's processor time",
        arguments: ["/api/get_photos?order=newest", "/api/records/houses?limit=50"]
    )
    func share(target: String) async throws {
        try await OwnCluster.use { cluster in
            try await cluster.withStandby { standby in
                try await StandbyService.run(cluster, nil) { alone in
                    try await StandbyService.run(cluster, standby) { helped in
                        let members = try await Self.addMembers(alone.service)
                        try await standby.catchUp(with: cluster)
                        var times: [Duration] = [.zero, .zero]
                        for round in 0...Self.roundCount {
                            for (index, service) in [alone, helped].enumerated() {
                                let before = try cluster.processorTime()
                                try await Self.repeatCall(target, Self.listCount, by: members, service.service)
                                if round > 0 { times[index] += try cluster.processorTime() - before }
                            }
                        }
                        let count = Self.listCount * Self.roundCount
                        let (forEach, ratio) = (times.map { $0 / Double(count) }, times[1] / times[0])
                        let reads = try await helped.standbyReads()
                        print(target, "alone:", forEach[0], "with a standby:", forEach[1], "ratio:", ratio, reads)
                        #expect(ratio <= 0.3)
                        #expect(reads["answered"] ?? 0 >= count)
                    }
                }
            }
        }
    }

    private static func addMembers(_ service: TestService) async throws -> [TestMember] {
        try await service.apply(try TestService.exampleSchema)
        var members: [TestMember] = []
        for number in 0..<userCount {
            let member = try await service.addMember("member\(number)")
            try await service.addRows(itemCount, name: member.name)
            for number in 0..<itemCount {
                let body = #"{"data":{"address":"\#(number) Some Street"}}"#
                try await service.put("houses/\(member.name)-\(number)", as: member, body)
            }
            members.append(member)
        }
        return members
    }
}
