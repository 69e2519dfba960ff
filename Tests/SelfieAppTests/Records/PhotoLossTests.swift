import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp
@testable import SelfiePhotos
@testable import SelfieRecords

@Suite("Photos that go from records", .timeLimit(.minutes(2)))
struct PhotoLossTests {
    @Test("The service's sweeper gives readers of a record a change when its photo is deleted")
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
            let answer = try await found("the record has a change") {
                let answer = try await service.call("GET", "/api/changes?since=\(cursor)", as: bob)
                return (answer.json["changes"] as? [Any])?.isEmpty == false ? answer : nil
            }
            let change = try #require((answer.json["changes"] as? [[String: Any]])?.first)
            #expect(change["type"] as? String == "updated")
            let record = try #require(change["record"] as? [String: Any])
            #expect(record["id"] as? String == "m" && record["version"] as? Int == 2)
            #expect((record["photos"] as? [String: String])?.isEmpty == true)
            #expect(try await service.count("SELECT count(*) FROM photo_losses") == 0)
        }
    }

    @Test("Two photos of a record are deleted, and its readers updated, at once without a deadlock")
    func twoPhotos() async throws {
        let schema = """
            {"collections":{"pairs":{"access":"private","fields":{"a":{"type":"photo"},"b":{"type":"photo"}}}}}
            """
        // The service's own sweeper comes too late.
        try await TestService.runWithSchema(schema, adjust: { $0.sweepInterval = .seconds(3_600) }) { service in
            let ada = try await service.addMember("ada")
            let photos = [
                try await service.uploadPhoto(token: ada.token), try await service.uploadPhoto(token: ada.token),
            ]
            let body = #"{"data":{"a":"\#(photos[0])","b":"\#(photos[1])"}}"#
            #expect(try await service.call("PUT", "/api/records/pairs/p", as: ada, body).status == 200)
            #expect(try await service.delete(photos[0], token: ada.token).status == 200)
            let schemas = SchemaCache(store: SchemaStore(postgres: service.postgres))
            let tell = ReportPhotoLosses(postgres: service.postgres, schemas: schemas, notifier: nil)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                try await service.postgres.withTransaction { connection in
                    try await connection.query("SELECT FROM photo_losses FOR UPDATE")
                    tasks.addTask { try await tell() }
                    try await service.waitForLocks(1)
                    tasks.addTask {
                        let deleted = try await service.delete(photos[1], token: ada.token)
                        #expect(deleted.status == 200)
                    }
                    try await service.waitForLocks(2)
                }
                try await tasks.waitForAll()
            }
            let deadlocks = try await service.count(
                "SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()"
            )
            #expect(deadlocks == 0)
            try await tell()
            let record = try await service.call("GET", "/api/records/pairs/p", as: ada)
            #expect((record.json["photos"] as? [String: String])?.isEmpty == true, "\(record.text)")
            try await service.expectSoundStreams()
        }
    }

    @Test("While a schema is being applied, no reader gets a change and no caller waits")
    func whileApplying() async throws {
        try await TestService.runWithSchema(adjust: { $0.sweepInterval = .seconds(3_600) }) { service in
            let ada = try await service.addMember("ada")
            let photo = try await service.uploadPhoto(token: ada.token)
            let body = #"{"data":{"address":"a","photo":"\#(photo)"}}"#
            #expect(try await service.call("PUT", "/api/records/houses/h", as: ada, body).status == 200)
            #expect(try await service.delete(photo, token: ada.token).status == 200)
            let schemas = SchemaCache(store: SchemaStore(postgres: service.postgres))
            let tell = ReportPhotoLosses(postgres: service.postgres, schemas: schemas, notifier: nil)
            try await service.postgres.withTransaction { connection in
                try await SchemaLock.takeAlone(on: connection)
                try await tell()
                #expect(try await service.count("SELECT count(*) FROM photo_losses") == 1)
            }
            try await tell()
            #expect(try await service.count("SELECT count(*) FROM photo_losses") == 0)
        }
    }
}
