import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieCore
@testable import SelfiePhotos

@Suite("Uploads with an Idempotency-Key", .timeLimit(.minutes(1)))
struct UploadKeyTests {
    private static func id(_ answer: HTTPAnswer) -> String? { answer.json["random_id"] as? String }

    private static func upload(
        _ key: String,
        _ image: Data = TestImage.jpeg,
        title: String = "Me",
        fileName: String = "photo",
        headers: [(String, String)] = [],
        token: String,
        _ service: TestService
    ) async throws -> HTTPAnswer {
        try await service.upload(
            image,
            token: token,
            title: title,
            fileName: fileName,
            headers: [("Idempotency-Key", key)] + headers
        )
    }

    @Test("The same upload, sent again, gets the first photo; another one is refused; others have keys of their own")
    func again() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let first = try await Self.upload("k", token: token, service)
            #expect(first.status == 200 && first.headers["idempotency-replayed"] == nil)
            for fileName in ["photo", "other.jpg"] {
                let again = try await Self.upload("k", fileName: fileName, token: token, service)
                #expect(again.status == 200 && again.headers["idempotency-replayed"] == "true")
                #expect(again.text == first.text)
            }
            let changed = TestImage.jpeg + Data([0])
            for other in [
                try await Self.upload("k", title: "Me ", token: token, service),
                try await Self.upload("k", changed, token: token, service),
                try await service.send(
                    "POST",
                    "/api/upload_photo?listed=false",
                    headers: [
                        ("Authorization", "Token token=\(token)"), ("Idempotency-Key", "k"),
                        ("Content-Type", TestMultipart.contentType),
                    ],
                    body: TestMultipart.body(image: TestImage.jpeg, title: "Me")
                ),
                try await Self.upload("k", TestImage.png(bytes: 64), token: token, service),
            ] {
                #expect(other.status == 422 && other.code == "idempotency_key_reused", "\(other.text)")
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 1)
            #expect(service.objects.keys() == [Self.id(first)].compactMap { $0 })
            // Neither another key, nor none, nor another user's.
            let bob = try await service.makeToken(email: "bob@example.com")
            for other in [
                try await Self.upload("K", token: token, service), try await service.upload(token: token, title: "Me"),
                try await service.upload(token: token, title: "Me"), try await Self.upload("k", token: bob, service),
            ] {
                #expect(other.status == 200 && other.headers["idempotency-replayed"] == nil, "\(other.text)")
            }
            #expect(try await service.count("SELECT count(DISTINCT random_id) FROM photos") == 5)
            #expect(
                try await service.count("SELECT count(*) FROM photos WHERE length(upload_key) = 32") == 3,
                "the key itself is not stored"
            )
        }
    }

    @Test("A key is 1 to 255 visible characters, in one header")
    func invalid() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for key in ["", "a b", "ü", String(repeating: "k", count: 256)] {
                let answer = try await Self.upload(key, token: token, service)
                #expect(answer.status == 400 && answer.code == "idempotency_key_invalid", "\(key): \(answer.text)")
            }
            let two = try await Self.upload("a", headers: [("Idempotency-Key", "a")], token: token, service)
            #expect(two.status == 400 && two.code == "idempotency_key_invalid")
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            for key in ["!", "\"a~\"", String(repeating: "k", count: 255)] {
                #expect(try await Self.upload(key, token: token, service).status == 200)
            }
        }
    }

    @Test("Of parallel uploads with a key, one makes a photo; the others get it, or are told to wait")
    func parallel() async throws {
        try await TestService.run(settings: ["UPLOADS_AT_ONCE_PER_USER_MAX": "20"]) { service in
            let token = try await service.makeToken()
            for key in ["a", "b", "c"] {
                let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { tasks in
                    for _ in 0..<6 { tasks.addTask { try await Self.upload(key, token: token, service) } }
                    return try await tasks.reduce(into: []) { $0.append($1) }
                }
                let stored = answers.filter { $0.status == 200 }
                #expect(Set(stored.map(Self.id)).count == 1)
                #expect(stored.filter { $0.headers["idempotency-replayed"] == nil }.count == 1)
                for other in answers where other.status != 200 {
                    #expect(other.status == 409 && other.code == "upload_under_way", "\(other.text)")
                    #expect(other.headers["retry-after"] == "2")
                }
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 3)
            #expect(service.objects.keys().count == 3)
        }
    }

    @Test("While an upload is under way, another one is told to wait before its body is read")
    func underWay() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let first = try await Self.upload("k", token: token, service)
            try await service.postgres.write("UPDATE photos SET state = 'pending'")
            #expect(try await Self.statusBeforeBody("k", token: token, service) == 409)
            // Others notice nothing of it.
            let bob = try await service.makeToken(email: "bob@example.com")
            let other = try await Self.upload("k", token: bob, service)
            #expect(other.status == 200 && other.headers["idempotency-replayed"] == nil, "\(other.text)")
            let again = try await Self.upload("k", token: bob, service)
            #expect(again.text == other.text && again.headers["idempotency-replayed"] == "true")
            // As soon as the sweeper has given it up, the key is free.
            try await service.postgres.write("UPDATE photos SET created_at = created_at - interval '41 s'")
            try await PhotoStore(postgres: service.postgres).giveUpPending()
            let second = try await Self.upload("k", token: token, service)
            #expect(second.status == 200 && Self.id(second) != Self.id(first))
            #expect(second.headers["idempotency-replayed"] == nil)
        }
    }

    @Test("The key of a deleted photo lives a day longer")
    func deleted() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let first = try await Self.upload("k", token: token, service)
            _ = try await service.delete(try #require(Self.id(first)), token: token)
            let store = PhotoStore(postgres: service.postgres)
            for age in ["0 s", "23 h 59 min"] {
                try await Self.age(age, service)
                try await store.forgetDeletedKeys()
                let gone = try await Self.upload("k", token: token, service)
                #expect(gone.status == 410 && gone.code == "upload_deleted", "\(gone.text)")
            }
            #expect(try await Self.statusBeforeBody("k", token: token, service) == 410)
            let bob = try await service.makeToken(email: "bob@example.com")
            #expect(try await Self.upload("k", token: bob, service).status == 200)
            try await Self.age("1 min", service)
            try await store.forgetDeletedKeys()
            #expect(try await Self.upload("k", token: token, service).status == 200)
            #expect(try await service.count("SELECT count(*) FROM photos") == 2)
        }
    }

    @Test("An upload that failed leaves its key free")
    func failed() async throws {
        try await TestService.run(settings: ["STORAGE_PER_USER_MAX": "1000"]) { service in
            let token = try await service.makeToken()
            let large = TestImage.png(bytes: 900)
            #expect(try await Self.upload("a", large, token: token, service).status == 200)
            // It is refused after its body, where the room is counted.
            #expect(try await Self.upload("b", large, token: token, service).status == 403)
            #expect(try await Self.upload("c", Data("no photo".utf8), token: token, service).status == 415)
            for key in ["b", "c"] {
                #expect(try await Self.upload(key, TestImage.png(bytes: 50), token: token, service).status == 200)
            }
            // The user has no room left, and does not need any.
            let again = try await Self.upload("a", large, token: token, service)
            #expect(again.status == 200 && again.headers["idempotency-replayed"] == "true")
        }
    }

    @Test("A full library answers a retry with the photo, and a new upload before its body")
    func full() async throws {
        try await TestService.run(settings: ["PHOTOS_PER_USER_MAX": "1"]) { service in
            let token = try await service.makeToken()
            let first = try await Self.upload("a", token: token, service)
            let again = try await Self.upload("a", token: token, service)
            #expect(again.status == 200 && Self.id(again) == Self.id(first))
            #expect(try await Self.statusBeforeBody("b", token: token, service) == 403)
        }
    }

    @Test("A photo that is deleted while its upload is sent again does not come back")
    func deletedMeanwhile() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let first = try await Self.upload("k", token: token, service)
            try await service.postgres.withConnection { connection in
                try await connection.execute(script: "BEGIN")
                try await connection.execute("DELETE FROM photos WHERE random_id = \(Self.id(first) ?? "")")
                let retry = Task { try await Self.upload("k", token: token, service) }
                try await poll("the retry waits for the deletion") {
                    let rows = try await connection.query(
                        """
                        SELECT count(*) AS count FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted
                        AND pg_backend_pid() = ANY(pg_blocking_pids(pid))
                        """
                    )
                    return try rows[0].decode("count", as: Int.self) == 1
                }
                try await connection.execute(script: "COMMIT")
                let gone = try await retry.value
                #expect(gone.status == 410 && gone.code == "upload_deleted", "\(gone.text)")
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
        }
    }

    @Test("A deleted account leaves no key")
    func leaving() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            _ = try await Self.upload("k", token: token, service)
            try await service.postgres.withTransaction { connection in
                let rows = try await connection.query("SELECT id FROM users")
                try await PhotoStore.removeAll(ofUser: try rows[0].decode("id"), on: connection)
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            #expect(try await service.count("SELECT count(*) FROM deleted_upload_keys") == 0)
        }
    }

    /// Sets the deletions of photos back by an interval.
    private static func age(_ interval: String, _ service: TestService) async throws {
        try await service.postgres.write(
            "UPDATE deleted_upload_keys SET deleted_at = deleted_at - CAST(\(interval) AS interval)"
        )
    }

    /// The status of an upload whose body is never sent.
    private static func statusBeforeBody(_ key: String, token: String, _ service: TestService) async throws -> Int? {
        try await RawConnection.open(port: service.port) { connection in
            try await connection.send(
                """
                POST /api/upload_photo HTTP/1.1\r
                Host: a\r
                Authorization: Token \(token)\r
                Idempotency-Key: \(key)\r
                Content-Type: \(TestMultipart.contentType)\r
                Content-Length: 50000\r
                \r

                """
            )
            var connection = connection
            return try await connection.readResponse()?.status
        }
    }
}
