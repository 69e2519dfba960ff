import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("Photos that go from records", .timeLimit(.minutes(2)))
struct PhotoLossTests {
    @Test("The service's own sweeper tells those who read a record that its photo is gone")
    func swept() async throws {
        try await TestService.runWithSchema(adjust: { $0.sweepInterval = .milliseconds(50) }) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let photo = try await service.uploadPhoto(token: ada.token)
            #expect(try await service.call("PUT", "/api/records/threads/t", as: ada, #"{"data":{}}"#).status == 200)
            let body = #"{"data":{"threadId":"t","picture":"\#(photo)"},"readers":["\#(bob.id)"]}"#
            #expect(try await service.call("PUT", "/api/records/messages/m", as: ada, body).status == 200)
            let page = try await service.call("GET", "/api/changes?since=now", as: bob)
            let cursor = try #require(page.json["cursor"] as? String)
            #expect(try await service.delete(photo, token: ada.token).status == 200)
            let answer = try await found("the record is told to have changed") {
                let answer = try await service.call("GET", "/api/changes?since=\(cursor)", as: bob)
                return (answer.json["changes"] as? [Any])?.isEmpty == false ? answer : nil
            }
            let told = try #require((answer.json["changes"] as? [[String: Any]])?.first)
            #expect(told["type"] as? String == "updated")
            let record = try #require(told["record"] as? [String: Any])
            #expect(record["id"] as? String == "m" && record["version"] as? Int == 2)
            #expect((record["photos"] as? [String: String])?.isEmpty == true)
            #expect(try await service.count("SELECT count(*) FROM photo_losses") == 0)
        }
    }
}
