import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Numbers of photos", .timeLimit(.minutes(3)))
struct PhotoNumberTests {
    @Test("Parallel uploads and deletions of four users take each number once; the version is the last one")
    func parallel() async throws {
        try await TestService.runWithSchema { service in
            try await service.postgres.logNumbers()
            var added: [TestMember] = []
            for name in ["ada", "bob", "cleo", "dan"] { added.append(try await service.addMember(name)) }
            let members = added
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for worker in 0..<16 {
                    let member = members[worker % 4]
                    tasks.addTask {
                        for round in 0..<3 {
                            let photo = try await service.uploadPhoto(token: member.token)
                            let record = try await service.call(
                                "PUT",
                                "/api/records/houses/h\(worker)",
                                as: member,
                                #"{"data":{"address":"a","photo":"\#(photo)"}}"#
                            )
                            #expect(record.status == 200, "\(record.text)")
                            if round < 2 { #expect(try await service.delete(photo, token: member.token).status == 200) }
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            try await service.expectNumbersWithoutGap()
            let wrongVersions = try await service.count(
                """
                SELECT count(*) FROM photo_libraries JOIN streams USING (user_id) WHERE version <> (
                    SELECT max(grants.seq) FROM grants WHERE stream_id = streams.id AND collection_id = 0)
                """
            )
            #expect(wrongVersions == 0)
            let states = try await service.count(
                """
                SELECT count(*) FROM grants LEFT JOIN photos ON photos.id = record_key WHERE collection_id = 0
                    AND ((rights = 1) <> (photos.id IS NOT NULL) OR (rights = 1) <> (ended_at IS NULL)
                        OR (rights = 1) <> (shown_seq IS NOT NULL) OR grants.random_id IS NULL)
                """
            )
            #expect(states == 0)
            #expect(try await service.count("SELECT count(*) FROM grants WHERE collection_id = 0 AND rights = 1") == 16)
            #expect(try await service.count("SELECT count(*) FROM grants WHERE collection_id = 0 AND rights = 0") == 32)
            for member in members { #expect(try await service.list(token: member.token).jsonArray?.count == 4) }
        }
    }

    @Test("The list has another entity tag after each change, and the same in between")
    func entityTag() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            var tags: [String] = []
            func note() async throws {
                for _ in 0..<2 { tags.append(try #require(try await service.list(token: ada.token).headers["etag"])) }
            }
            try await note()
            let photo = try await service.uploadPhoto(token: ada.token)
            try await note()
            _ = try await service.call("PUT", "/api/records/houses/h", as: ada, #"{"data":{"address":"a"}}"#)
            try await note()
            #expect(try await service.delete(photo, token: ada.token).status == 200)
            try await note()
            // As a service of 0.14 ends the URLs, then once more by this one.
            try await service.postgres.write(
                "UPDATE photo_libraries SET url_series = url_series + 1, version = next_version(version)"
            )
            try await note()
            _ = try await service.uploadPhoto(token: ada.token)
            try await note()
            let pairs = stride(from: 0, to: tags.count, by: 2).map { tags[$0] }
            #expect(zip(pairs, stride(from: 1, to: tags.count, by: 2).map { tags[$0] }).allSatisfy { $0 == $1 })
            #expect(pairs[1] == pairs[2] && Set(pairs).count == 5)
        }
    }
}
