import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Unlisted photos, and those of records", .timeLimit(.minutes(3)))
struct UnlistedPhotoTests {
    /// Waits until the service's own sweeper has removed all objects but some.
    private static func expectObjects(_ count: Int, in service: TestService) async throws {
        try await poll("\(count) objects") { service.objects.keys().count == count }
    }

    @Test("A photo is deleted with the last record that refers to it, and its object within a minute")
    func lastRecord() async throws {
        try await TestService.runWithSchema { service in
            let (ada, eve) = (try await service.addMember("ada"), try await service.addMember("eve"))
            let photo = try await service.uploadUnlisted(as: ada)
            #expect(try await service.send("GET", photo.url).body == TestImage.jpeg)
            #expect(try await service.list(token: ada.token).jsonArray?.isEmpty == true)
            for id in ["h1", "h2"] {
                let made = try await service.call(
                    "PUT",
                    "/api/records/houses/\(id)",
                    as: ada,
                    #"{"data":{"address":"a","photo":"\#(photo.id)"}}"#
                )
                #expect(
                    (made.json["photos"] as? [String: String])?["photo"]?.contains(photo.id) == true,
                    "\(made.text)"
                )
            }
            #expect(try await service.call("GET", "/api/records/houses/h1", as: eve).status == 404)
            #expect(try await service.call("DELETE", "/api/records/houses/h1", as: ada).status == 200)
            try await service.sweep()
            #expect(try await service.send("GET", photo.url).status == 200)
            let other = try await service.call("PATCH", "/api/records/houses/h2", as: ada, #"{"data":{"photo":null}}"#)
            #expect((other.json["photos"] as? [String: String])?.isEmpty == true)
            try await Self.expectObjects(0, in: service)
            #expect(try await service.send("GET", photo.url).status == 404)
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            #expect(try await service.count("SELECT count(*) FROM photo_releases") == 0)
            let library = try await service.count("SELECT photo_count + byte_count AS count FROM photo_libraries")
            #expect(library == 0)
        }
    }

    @Test("A photo without any reference is deleted after a day; a picture and a listed photo stay")
    func unused() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let (unused, picture) = (
                try await service.uploadUnlisted(as: ada), try await service.uploadUnlisted(as: ada)
            )
            let listed = try await service.uploadPhoto(token: ada.token)
            #expect(try await service.call("PATCH", "/api/me", as: ada, #"{"picture":"\#(picture.id)"}"#).status == 200)
            try await service.sweep()
            #expect(service.objects.keys().count == 3)
            try await service.postgres.write("UPDATE photo_releases SET due_at = due_at - interval '25 hours'")
            try await Self.expectObjects(2, in: service)
            #expect(Set(service.objects.keys()) == [picture.id, listed])
            #expect(!service.objects.keys().contains(unused.id))
            // Another picture lets the first one go.
            #expect(try await service.call("PATCH", "/api/me", as: ada, #"{"picture":"\#(listed)"}"#).status == 200)
            try await Self.expectObjects(1, in: service)
            #expect(try await service.call("PATCH", "/api/me", as: ada, #"{"picture":null}"#).status == 200)
            try await service.sweep()
            #expect(service.objects.keys() == [listed])
        }
    }

    @Test("A record that refers to a photo at the moment of the sweep either has it or is refused")
    func race() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for round in 0..<20 {
                let photo = try await service.uploadUnlisted(as: ada)
                try await service.postgres.write("UPDATE photo_releases SET due_at = now() AT TIME ZONE 'UTC'")
                async let sweep: Void = service.sweep()
                let made = try await service.call(
                    "PUT",
                    "/api/records/houses/h\(round)",
                    as: ada,
                    #"{"data":{"address":"a","photo":"\#(photo.id)"}}"#
                )
                try await sweep
                try await service.sweep()
                let status = try await service.send("GET", photo.url).status
                #expect(
                    made.status == 200 && status == 200 || made.status == 400 && status == 404,
                    "\(made.text) \(status)"
                )
            }
        }
    }

    @Test("A photo is deleted while a record lets it go, without a deadlock")
    func bothGo() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for body in [nil, #"{"data":{"photo":null}}"#] {
                let photo = try await service.uploadPhoto(token: ada.token)
                let path = "/api/records/houses/h"
                let data = #"{"data":{"address":"a","photo":"\#(photo)"}}"#
                #expect(try await service.call("PUT", path, as: ada, data).status == 200)
                let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                    try await service.postgres.withTransaction { connection in
                        try await connection.query("SELECT FROM streams FOR UPDATE")
                        tasks.addTask {
                            try await service.call(body == nil ? "DELETE" : "PATCH", path, as: ada, body).status
                        }
                        try await service.waitForLocks(1)
                        tasks.addTask { try await service.delete(photo, token: ada.token).status }
                        try await service.waitForLocks(2)
                    }
                    return try await tasks.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses == [200, 200])
            }
            let deadlocks = try await service.count(
                "SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()"
            )
            #expect(deadlocks == 0)
            try await service.expectSoundStreams()
        }
    }

    @Test("It can be deleted, counts for the quota, and a wrong word is refused")
    func others() async throws {
        try await TestService.runWithSchema(settings: ["RATE_LIMITS": "off", "PHOTOS_PER_USER_MAX": "1"]) { service in
            let ada = try await service.addMember("ada")
            let photo = try await service.uploadUnlisted(as: ada)
            let second = try await service.upload(token: ada.token)
            #expect(second.status == 403 && second.code == "photo_quota_reached")
            #expect(try await service.delete(photo.id, token: ada.token).status == 200)
            #expect(service.objects.keys().isEmpty)
            let wrong = try await service.send(
                "POST",
                "/api/upload_photo?listed=perhaps",
                headers: [("Authorization", "Bearer \(ada.token)"), ("Content-Type", TestMultipart.contentType)],
                body: TestMultipart.body(image: TestImage.jpeg, title: "House")
            )
            #expect(wrong.status == 400 && wrong.code == "listed_invalid")
        }
    }
}
