import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("kill -9 in the middle of uploads and deletions", .timeLimit(.minutes(15)))
struct CrashTests {
    private static let roundCount = 6
    private static let requestCount = 50
    private static let recoverySecondsMax = 60.0
    /// What a server answers that is too busy; whatever it refused must leave nothing behind.
    private static let busyStatus = 503

    @Test(
        "Rows and objects match one to one within a minute, and no answered request is forgotten",
        arguments: TestStore.allCases
    )
    func crashes(store: TestStore) async throws {
        try await TestCluster.withDatabase { url in
            try await ServedSelfie.withObjects(store) { objects in
                try await TestCluster.withClient(url) { postgres in
                    let ledger = CrashLedger()
                    var token = ""
                    for round in 0..<Self.roundCount {
                        let served = try await ServedSelfie.start(
                            databaseURL: url,
                            objects: objects,
                            postgres: postgres
                        )
                        if round == 0 { token = try await served.service.makeToken() }
                        try await Self.storm(served, token: token, ledger: ledger, round: round)
                    }
                    #expect(ledger.surprises == [])
                    #expect(ledger.uploadCount > 0 && !ledger.deleted.isEmpty && ledger.silenceCount > 0)
                    let served = try await ServedSelfie.start(databaseURL: url, objects: objects, postgres: postgres)
                    try await poll("rows and objects match", within: .seconds(Self.recoverySecondsMax)) {
                        try await Self.isWhole(served.service)
                    }
                    try await Self.check(served.service, token: token, ledger: ledger)
                }
            }
        }
    }

    /// Starts many requests at once and kills the server when some of them were answered.
    private static func storm(_ served: ServedSelfie, token: String, ledger: CrashLedger, round: Int) async throws {
        let deletions = ledger.pickForDeletion(atMost: round == 0 ? 0 : requestCount / 2)
        // From at once to nearly all, another moment each round.
        let answersBeforeKill = round == 0 ? requestCount / 2 : (round * 17) % (requestCount - 5)
        let port = served.service.port
        await withTaskGroup(of: Bool.self) { requests in
            for randomID in deletions {
                requests.addTask { await delete(randomID, port: port, token: token, ledger: ledger) }
            }
            for number in deletions.count..<requestCount {
                // Every tenth is too large for memory and is spooled.
                let bytes = number % 10 == 0 ? 5_000_000 : 20_000 + number * 3000
                let image = photo(bytes: bytes, seed: UInt8(truncatingIfNeeded: round * requestCount + number))
                requests.addTask { await upload(image, port: port, token: token, ledger: ledger) }
            }
            var answers = 0
            if answersBeforeKill == 0 { served.process.signal(SIGKILL) }
            for await isAnswered in requests where isAnswered {
                answers += 1
                if answers == answersBeforeKill { served.process.signal(SIGKILL) }
            }
        }
        #expect(try await served.process.waitForExit() == 128 + SIGKILL)
    }

    /// Uploads over a connection of its own, which never tries again.
    ///
    /// - Returns: Whether it was answered.
    private static func upload(_ image: Data, port: Int, token: String, ledger: CrashLedger) async -> Bool {
        let body = TestMultipart.body(image: image, title: "storm")
        let answer = await exchange(
            [
                Data(RawRequest.uploadHeader(token: token, bodyBytes: body.count, extra: "Connection: close\r\n").utf8),
                body,
            ],
            port: port
        )
        guard let answer else {
            ledger.noteSilence()
            return false
        }
        if answer.status == 200, let randomID = answer.json["random_id"] as? String {
            ledger.noteUpload(randomID, image)
        } else if answer.status != busyStatus {
            ledger.noteSurprise("upload: \(answer.status) \(answer.text)")
        }
        return true
    }

    private static func delete(_ randomID: String, port: Int, token: String, ledger: CrashLedger) async -> Bool {
        guard let answer = await exchange([Data(RawRequest.delete(randomID, token: token).utf8)], port: port) else {
            ledger.noteSilence()
            return false
        }
        if answer.status == 200 {
            ledger.noteDeletion(randomID)
        } else if answer.status != busyStatus {
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

    /// Whether nothing is half-done: each ready row has an object, each object a ready row, and nothing waits.
    private static func isWhole(_ service: TestService) async throws -> Bool {
        let left = try await service.count(
            """
            SELECT (SELECT count(*) FROM photos WHERE state <> 'ready') + (SELECT count(*) FROM object_deletions) AS count
            """
        )
        let rows = try await service.postgres.query("SELECT random_id FROM photos WHERE state = 'ready'")
        return try left == 0
            && rows.map { try $0.decode("random_id", as: String.self) }.sorted() == service.objects.keys()
    }

    private static func check(_ service: TestService, token: String, ledger: CrashLedger) async throws {
        let list = try #require(try await service.list(token: token).jsonArray)
        let listed = Set(list.compactMap { $0["random_id"] as? String })
        #expect(listed.sorted() == service.objects.keys())
        #expect(Set(ledger.kept.keys).subtracting(listed).isEmpty, "an upload that was answered 200 is gone")
        #expect(ledger.deleted.intersection(listed).isEmpty, "a photo whose deletion was answered 200 is there")
        for (randomID, image) in ledger.uploaded where listed.contains(randomID) {
            #expect(service.objects.bytes(key: randomID) == image)
        }
        let owners = try await service.count("SELECT count(DISTINCT user_id) FROM photos")
        #expect(owners == 1)
    }

    private static func photo(bytes: Int, seed: UInt8) -> Data {
        TestImage.jpeg.prefix(16) + Data(repeating: seed, count: bytes)
    }
}
