import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieRecords

@Suite("How soon changes come", .timeLimit(.minutes(6)))
struct ChangeTimeSoakTests {
    @Test("An upload or deletion at one process is sent by another within 100 ms, by the median")
    func devices() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let ada = try await first.addMember("ada")
            try await EventClient.open(second, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                var (created, deleted): ([Duration], [Duration]) = ([], [])
                for _ in 0..<31 {
                    let photo = try await first.upload(as: ada)
                    var start = ContinuousClock.now
                    #expect(try await client.next()?.summary == "created photos \(photo)")
                    created.append(ContinuousClock.now - start)
                    #expect(try await first.delete(photo, token: ada.token).status == 200)
                    start = ContinuousClock.now
                    #expect(try await client.next()?.summary == "deleted photos \(photo)")
                    deleted.append(ContinuousClock.now - start)
                }
                print("created after \(created.sorted()[15]), deleted after \(deleted.sorted()[15])")
                #expect(created.sorted()[15] < .milliseconds(100) && deleted.sorted()[15] < .milliseconds(100))
            }
        }
    }

    @Test(
        "Without notifications, a reader who loses a right learns it within ten seconds",
        arguments: ChangeLoss.allCases
    )
    func lossesWithoutNotifications(loss: ChangeLoss) async throws {
        #expect(try await loss.happen(sendsNotifications: false) < .seconds(11))
    }

    @Test("With notifications, within a second", arguments: ChangeLoss.allCases)
    func lossesWithNotifications(loss: ChangeLoss) async throws {
        // A command takes a moment to start.
        #expect(try await loss.happen(sendsNotifications: true) < .seconds(1.5))
    }

    @Test("A silent stream gets comments again and again, within 15 seconds each time")
    func heartbeats() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await EventClient.open(service, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                try await Task.sleep(for: .seconds(30))
                try await service.put("houses/h", as: ada, #"{"data":{"address":"a"}}"#)
                #expect(try await client.next()?.summary == "created houses h")
                #expect(client.commentCount == 2)
            }
        }
    }

    @Test("A reader of other collections gets cursors past the rest, and resumes without reading it again")
    func checkpoint() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let cursor = try await EventClient.open(service, as: ada, "?collections=houses") { client in
                _ = try await client.summaries(until: "synced")
                let records = (0..<100).map { _ in #"{"data":{"title":"t"}}"# }.joined(separator: ",")
                for _ in 0..<60 {
                    let answer = try await service.call("POST", "/api/records/news", as: ada, "[\(records)]")
                    #expect(answer.status == 200)
                }
                let event = try await client.next()
                #expect(event?.name == "cursor" && event?.id != nil)
                return try #require(event?.id.flatMap(ChangeCursor.init))
            }
            let last = try await service.count("SELECT sum(seq)::bigint AS count FROM streams")
            #expect(last >= 6_000 && cursor.positions.values.map(\.number).reduce(0, +) == last)
            let page = try await service.changes("?collections=houses&since=\(cursor.text)", as: ada)
            #expect(page.status == 200 && page.summaries.isEmpty && page.cursor == cursor.text)
        }
    }
}
