import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import ServerProcesses
import TestSupport

/// Uploads and deletions of a service whose process is killed under them, and what is left of them.
package struct CrashStorm: Sendable {
    private let databaseURL: String
    private let objects: TestObjects
    private let postgres: PostgresClient
    /// What the clients know.
    package let ledger = CrashLedger()

    /// What a server answers that is too busy; whatever it refused must leave nothing behind.
    private static let busyStatus = 503

    /// Runs a body with a database and a store that no process uses yet.
    package static func with(_ store: TestStore, _ body: (CrashStorm) async throws -> Void) async throws {
        try await TestCluster.withDatabase { url in
            try await ServedSelfie.withObjects(store) { objects in
                try await TestCluster.withClient(url) { postgres in
                    try await body(CrashStorm(databaseURL: url, objects: objects, postgres: postgres))
                }
            }
        }
    }

    /// Starts a process.
    package func start() async throws -> ServedSelfie {
        try await ServedSelfie.start(
            databaseURL: databaseURL,
            objects: objects,
            settings: ["UPLOADS_AT_ONCE_PER_USER_MAX": "200"],
            postgres: postgres
        )
    }

    /// Starts many requests at once and kills the process when some of them were answered.
    ///
    /// - Parameters:
    ///   - served: The process.
    ///   - token: Whose photos.
    ///   - requestCount: How many requests, half of them deletions as far as there are photos.
    ///   - answersBeforeKill: After how many answers the process is killed.
    ///   - round: Distinguishes these photos from others.
    ///   - holdsOne: Whether one more upload is under way for certain when the process is killed.
    /// - Returns: The process's exit status; 128 and the signal's number for one that was killed.
    /// - Throws: `SelfieProcessError` when the process does not end, `NotInTime`.
    package func run(
        _ served: ServedSelfie,
        token: String,
        requestCount: Int,
        answersBeforeKill: Int,
        round: Int,
        holdsOne: Bool = false
    ) async throws -> Int32 {
        let deletions = ledger.pickForDeletion(atMost: round == 0 ? 0 : requestCount / 2)
        let port = served.service.port
        try await withThrowingTaskGroup(of: Bool.self) { requests in
            for randomID in deletions {
                requests.addTask { await delete(randomID, port: port, token: token) }
            }
            for number in deletions.count..<requestCount {
                // Every tenth is too large for memory and is spooled.
                let bytes = number % 10 == 0 ? 5_000_000 : 20_000 + number * 3000
                let image = Self.photo(bytes: bytes, seed: UInt8(truncatingIfNeeded: round * requestCount + number))
                requests.addTask { await upload(image, port: port, token: token) }
            }
            var answers = 0
            if answersBeforeKill == 0 { served.process.signal(SIGKILL) }
            for try await isAnswered in requests where isAnswered {
                answers += 1
                guard answers == answersBeforeKill else { continue }
                if holdsOne {
                    try await kill(served, token: token)
                } else {
                    served.process.signal(SIGKILL)
                }
            }
        }
        return try await served.process.waitForExit()
    }

    /// Kills the process while an upload waits for its user's row.
    private func kill(_ served: ServedSelfie, token: String) async throws {
        try await postgres.withTransaction { connection in
            try await connection.query("SELECT id FROM users FOR UPDATE")
            let image = Self.photo(bytes: 20_000, seed: 0)
            async let isAnswered = upload(image, port: served.service.port, token: token)
            try await poll("an upload waits") { try await count("wait_event_type = 'Lock'") > 0 }
            served.process.signal(SIGKILL)
            _ = await isAnswered
        }
        // Statements that the database still runs for an ended process.
        try await poll("nothing is under way") { try await count("state <> 'idle'") == 0 }
    }

    /// How many others' connections to the database are in such a state.
    private func count(_ condition: String) async throws -> Int {
        try await postgres.read(
            PostgresQuery(
                stringLiteral: """
                    SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() AND \(condition)
                    """
            )
        ).count
    }

    /// Uploads over a connection of its own, which never tries again.
    ///
    /// - Returns: Whether it was answered.
    private func upload(_ image: Data, port: Int, token: String) async -> Bool {
        let body = TestMultipart.body(image: image, title: "storm")
        let header = """
            POST /api/upload_photo HTTP/1.1\r
            Host: 127.0.0.1\r
            Authorization: Token token=\(token)\r
            Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)\r
            Content-Length: \(body.count)\r
            Connection: close\r
            \r

            """
        guard let answer = await Self.exchange([Data(header.utf8), body], port: port) else {
            ledger.noteSilence()
            return false
        }
        if answer.status == 200, let randomID = answer.json["random_id"] as? String {
            ledger.noteUpload(randomID, image)
        } else if answer.status != Self.busyStatus {
            ledger.noteSurprise("upload: \(answer.status) \(answer.text)")
        }
        return true
    }

    private func delete(_ randomID: String, port: Int, token: String) async -> Bool {
        let request = """
            DELETE /api/delete_photo?photo_id=\(randomID) HTTP/1.1\r
            Host: 127.0.0.1\r
            Authorization: Token token=\(token)\r
            Connection: close\r
            \r

            """
        guard let answer = await Self.exchange([Data(request.utf8)], port: port) else {
            ledger.noteSilence()
            return false
        }
        if answer.status == 200 {
            ledger.noteDeletion(randomID)
        } else if answer.status != Self.busyStatus {
            ledger.noteSurprise("delete: \(answer.status) \(answer.text)")
        }
        return true
    }

    private static func exchange(_ parts: [Data], port: Int) async -> HTTPAnswer? {
        do {
            return try await RawConnection.open(port: port) { connection in
                for part in parts { try await connection.send(part) }
                return try await connection.readResponse()
            }
        } catch {
            return nil
        }
    }

    private static func photo(bytes: Int, seed: UInt8) -> Data {
        TestImage.png(bytes: bytes + 57, seed: seed)
    }

    /// Makes old what waits for its age.
    package func age() async throws {
        try await postgres.write(
            "UPDATE photos SET created_at = created_at - interval '1 hour' WHERE state = 'pending'"
        )
        try await postgres.write("UPDATE object_deletions SET due_at = due_at - interval '1 hour'")
    }

    /// Whether nothing is half-done: each ready row has an object, each object a ready row, and nothing waits.
    package func isWhole() async throws -> Bool {
        let left = try await postgres.read(
            """
            SELECT FROM photos WHERE state <> 'ready' UNION ALL SELECT FROM object_deletions
            """
        )
        let rows = try await postgres.read("SELECT random_id FROM photos WHERE state = 'ready'")
        return try left.isEmpty
            && rows.map { try $0.decode("random_id", as: String.self) }.sorted() == objects.keys()
    }

    /// The contradictions to the answers of clients; empty when there are none.
    ///
    /// - Parameters:
    ///   - service: Where to ask for the list.
    ///   - token: Whose photos.
    /// - Returns: A line for each thing that is wrong.
    /// - Throws: What asking throws.
    package func mistakes(_ service: TestService, token: String) async throws -> [String] {
        var mistakes = ledger.surprises
        let answer = try await service.list(token: token)
        let listed = Set((answer.jsonArray ?? []).compactMap { $0["random_id"] as? String })
        if answer.status != 200 || listed.sorted() != objects.keys() {
            mistakes.append(
                "the list is \(answer.status) \(listed.sorted()), the objects are \(objects.keys())"
            )
        }
        for id in Set(ledger.kept.keys).subtracting(listed) {
            mistakes.append("\(id): an upload that was answered 200 is gone")
        }
        for id in ledger.deleted.intersection(listed) {
            mistakes.append("\(id): a photo whose deletion was answered 200 is there")
        }
        for (id, image) in ledger.uploaded where listed.contains(id) && objects.bytes(key: id) != image {
            mistakes.append("\(id): it has other bytes")
        }
        let owners = try await service.count("SELECT count(DISTINCT user_id) FROM photos")
        if owners > 1 { mistakes.append("photos of \(owners) users") }
        return mistakes
    }
}
