import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Quotas")
struct PhotoQuotaTests {
    private static let noRoom = "You have reached the limit of your photos"

    /// What the library of the only user counts, and what there is.
    private func counts(_ service: TestService) async throws -> [Int] {
        [
            try await service.count("SELECT photo_count AS count FROM photo_libraries"),
            try await service.count("SELECT count(*) FROM photos WHERE state = 'ready'"),
            try await service.count("SELECT byte_count AS count FROM photo_libraries"),
            try await service.count(
                "SELECT coalesce(sum(byte_count), 0)::bigint AS count FROM photos WHERE state = 'ready'"
            ),
        ]
    }

    @Test("A user has as many photos as the quota, and may upload again when one is deleted")
    func count() async throws {
        try await TestService.run(settings: ["PHOTOS_PER_USER_MAX": "3"]) { service in
            let token = try await service.makeToken()
            var ids: [String] = []
            for _ in 0..<3 { ids.append(try await service.uploadPhoto(token: token)) }
            let refused = try await service.upload(token: token)
            #expect(refused.status == 403 && refused.message == Self.noRoom)
            #expect(service.objects.keys().sorted() == ids.sorted())
            #expect(try await service.count("SELECT count(*) FROM photos") == 3)
            // Another user has room.
            _ = try await service.uploadPhoto(token: try await service.makeToken(email: "bob@example.com"))
            #expect(try await service.delete(ids[0], token: token).status == 200)
            _ = try await service.uploadPhoto(token: token)
            #expect(try await service.upload(token: token).status == 403)
        }
    }

    @Test("A user has so many bytes and no more, to the byte")
    func bytes() async throws {
        try await TestService.run(settings: ["STORAGE_PER_USER_MAX": "1000"]) { service in
            let token = try await service.makeToken()
            #expect(try await service.upload(TestImage.png(bytes: 1_001), token: token).status == 403)
            #expect(try await service.upload(TestImage.png(bytes: 900), token: token).status == 200)
            let refused = try await service.upload(TestImage.png(bytes: 101), token: token)
            #expect(refused.status == 403 && refused.message == Self.noRoom)
            #expect(try await service.upload(TestImage.png(bytes: 100), token: token).status == 200)
            #expect(try await service.upload(TestImage.png(bytes: 45), token: token).status == 403)
            #expect(try await counts(service) == [2, 2, 1_000, 1_000])
            #expect(try await service.count("SELECT count(*) FROM photos WHERE state = 'pending'") == 0)
        }
    }

    @Test("The refusal comes before the body is read, by the number of photos and by the announced length")
    func early() async throws {
        let settings = ["PHOTOS_PER_USER_MAX": "1", "STORAGE_PER_USER_MAX": "1000000", "UPLOAD_BYTES_MAX": "8000000"]
        try await TestService.run(settings: settings) { service in
            let token = try await service.makeToken()
            // The body is never sent.
            func status(length: Int) async throws -> Int? {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.send(
                        """
                        POST /api/upload_photo HTTP/1.1\r
                        Host: a\r
                        Authorization: Token \(token)\r
                        Content-Type: \(TestMultipart.contentType)\r
                        Content-Length: \(length)\r
                        \r

                        """
                    )
                    var connection = connection
                    return try await connection.readResponse()?.status
                }
            }
            // What a body has beside the file is 512 KiB at most.
            #expect(try await status(length: 1_000_000 + 524_288 + 1) == 403)
            _ = try await service.uploadPhoto(token: token)
            #expect(try await status(length: 300) == 403)
        }
    }

    @Test(
        "Uploads at the same time do not pass the quota together",
        arguments: ["PHOTOS_PER_USER_MAX", "STORAGE_PER_USER_MAX"]
    )
    func race(key: String) async throws {
        let settings = [key: key == "PHOTOS_PER_USER_MAX" ? "5" : "500", "UPLOADS_AT_ONCE_PER_USER_MAX": "20"]
        try await TestService.run(settings: settings) { service in
            let token = try await service.makeToken()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { uploads in
                for seed in 0..<12 {
                    uploads.addTask {
                        try await service.upload(TestImage.png(bytes: 100, seed: UInt8(seed)), token: token).status
                    }
                }
                return try await uploads.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 5, 403: 7])
            #expect(try await counts(service) == [5, 5, 500, 500])
            #expect(try await service.count("SELECT count(*) FROM photos WHERE state = 'pending'") == 0)
        }
    }

    @Test("A user's own quota counts instead of the usual one")
    func set() async throws {
        try await TestService.run(settings: ["PHOTOS_PER_USER_MAX": "2"]) { service in
            let token = try await service.makeToken()
            _ = try await service.uploadPhoto(token: token)
            try await service.postgres.write("UPDATE photo_libraries SET max_photo_count = 1")
            #expect(try await service.upload(token: token).status == 403)
            try await service.postgres.write("UPDATE photo_libraries SET max_photo_count = 3")
            for _ in 0..<2 { _ = try await service.uploadPhoto(token: token) }
            #expect(try await service.upload(token: token).status == 403)
            try await service.postgres.write("UPDATE photo_libraries SET max_photo_count = NULL, max_byte_count = 0")
            #expect(try await service.upload(token: token).status == 403)
        }
    }

    @Test("A length beyond all bounds is too long, whatever the user has already")
    func absurdLength() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            #expect(try await service.upload(TestImage.png(bytes: 600_000), token: token).status == 200)
            for length in [Int.max, Int.max - 600_000] {
                let answer = try await RawConnection.open(port: service.port) { connection in
                    try await connection.send(
                        """
                        POST /api/upload_photo HTTP/1.1\r
                        Host: a\r
                        Authorization: \(tokenHeader(token))\r
                        Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)\r
                        Content-Length: \(length)\r
                        \r

                        """
                    )
                    return try await connection.readResponse()
                }
                #expect(answer?.status == 413)
            }
        }
    }

    @Test("The library counts right whatever happens to photos, by whomever")
    func counting() async throws {
        try await TestService.run { service in
            try await service.addSession()
            try await service.addSession(name: "bob")
            var versions: [Int] = [0]
            for statement: PostgresQuery in [
                "INSERT INTO photos (user_id, name, title, random_id, state, byte_count) SELECT min(id), '', '', 'a', 'ready', 7 FROM users",
                "INSERT INTO photos (user_id, name, title, random_id, state) SELECT min(id), '', '', 'b', 'ready' FROM users",
                "INSERT INTO photos (user_id, name, title, random_id, state, byte_count) SELECT id, '', '', 'c' || id, 'pending', 5 FROM users",
                "UPDATE photos SET state = 'ready' WHERE random_id LIKE 'c%'",
                "UPDATE photos SET byte_count = 9 WHERE random_id IN ('a', 'b')",
                "UPDATE photos SET user_id = (SELECT max(id) FROM users) WHERE random_id = 'a'",
                "UPDATE photos SET state = 'pending' WHERE random_id = 'b'",
                "DELETE FROM photos WHERE random_id = 'b'",
                "DELETE FROM photos WHERE random_id LIKE 'c%'",
                "DELETE FROM photos",
            ] {
                try await service.postgres.write(statement)
                let wrong = try await service.count(
                    """
                    SELECT count(*) FROM users LEFT JOIN photo_libraries AS library ON user_id = users.id
                    WHERE coalesce(photo_count, 0) <> (SELECT count(*) FROM photos WHERE user_id = users.id AND state = 'ready')
                        OR coalesce(byte_count, 0) <> (
                            SELECT coalesce(sum(byte_count), 0) FROM photos WHERE user_id = users.id AND state = 'ready'
                        )
                    """
                )
                #expect(wrong == 0, "\(statement.sql)")
                versions.append(
                    try await service.count("SELECT coalesce(sum(version), 0)::bigint AS count FROM photo_libraries")
                )
            }
            // Unlisted photos change no version: the third and the eighth.
            for (index, (before, after)) in zip(versions, versions.dropFirst()).enumerated() {
                #expect([2, 7].contains(index) ? after == before : after > before, "\(index)")
            }
        }
    }
}
