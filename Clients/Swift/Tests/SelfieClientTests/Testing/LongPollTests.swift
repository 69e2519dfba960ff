import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("A call of the feed that waits")
struct LongPollTests {
    @Test("ends in time, whatever others do meanwhile", .timeLimit(.minutes(1)))
    func end() async throws {
        let service = try TestSchema.service()
        let ada = try await ServiceCaller(service, as: "ada@example.com")
        let bob = try await ServiceCaller(service, as: "bob@example.com")
        let start = ContinuousClock.now
        let others = Task {
            // A wait that began anew with each of these would never end.
            while !Task.isCancelled {
                _ = try await bob.send("POST", "records/houses", #"{"data":{"address":"a"}}"#)
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        let answer = try await ada.send("GET", "changes?since=now&wait=1")
        others.cancel()
        #expect(answer.status == 200 && answer.json["changes"] == [])
        #expect(ContinuousClock.now - start >= .seconds(1))
    }
}
