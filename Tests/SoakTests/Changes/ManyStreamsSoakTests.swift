import ConnectionTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

/// The numbers are those that the service is to stand.
@Suite("Thousands of streams", .timeLimit(.minutes(6)))
struct ManyStreamsSoakTests {
    private static let memberCount = 500
    private static let streamsPerMember = 10
    private static let maxKibibytesPerStream = 30

    @Test("5,000 streams of a process take 30 KiB each at most; one change reaches all, with few statements")
    func many() async throws {
        OpenFileLimit.raise()
        try await ServedSelfie.run(settings: ["RATE_LIMITS": "off"]) { served in
            let service = served.service
            try await service.apply(try TestService.exampleSchema)
            var members: [TestMember] = []
            for number in 0..<Self.memberCount { members.append(try await service.addMember("m\(number)")) }
            let (all, count) = (members, Self.memberCount * Self.streamsPerMember)
            // What the first one alone needs, such as code and connections to the database, counts for none.
            let first = try await service.addMember("first")
            try await EventClient.open(service, as: first) { client in
                _ = try await client.summaries(until: "synced")
                try await service.put("news/first", as: first, #"{"data":{"title":"n"}}"#)
                _ = try await client.next()
            }
            let (events, continuation) = AsyncStream.makeStream(of: String.self)
            try await withThrowingTaskGroup(of: Void.self) { clients in
                let memory = try ProcessMemory(of: served.process.processID).resident
                for number in 0..<count {
                    clients.addTask {
                        try await EventClient.open(service, as: all[number % Self.memberCount], "?since=now") {
                            client in
                            while let event = try await client.next() { continuation.yield(event.summary) }
                        }
                    }
                }
                var arrivals = events.makeAsyncIterator()
                for _ in 0..<count { #expect(await arrivals.next() == "synced ") }
                // Memory that is not needed is given back after a while, and the database counts idle sessions late.
                try await Task.sleep(for: .seconds(12))
                let growth = try ProcessMemory(of: served.process.processID).resident - memory
                print("\(growth) KiB, \(growth / count) a stream")
                #expect(growth <= count * Self.maxKibibytesPerStream)
                for round in 0..<3 {
                    let before = try await statementCount(service)
                    let start = ContinuousClock.now
                    try await service.put("news/n\(round)", as: all[0], #"{"data":{"title":"n"}}"#)
                    for _ in 0..<count { #expect(await arrivals.next() == "created news n\(round)") }
                    print("all have it after \(ContinuousClock.now - start)")
                    try await Task.sleep(for: .seconds(2))
                    // Of these, the comparison of all readers takes sixty a second.
                    #expect(try await statementCount(service) - before < 300)
                }
                served.process.signal(SIGTERM)
                for _ in 0..<count { #expect(await arrivals.next() == "end restart") }
                try await clients.waitForAll()
                #expect(try await served.process.waitForExit() == 0)
            }
        }
    }

    /// How many transactions the database has had.
    private func statementCount(_ service: TestService) async throws -> Int {
        try await service.count("SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()")
    }
}
