import Budgets
import ConnectionTestSupport
import Foundation
import NIOCore
import ObjectStore
import Postgres
import SelfieConfiguration
import SelfieWeb
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

/// What happens while an export is sent.
@Suite("An export under way", .timeLimit(.minutes(3)))
struct ExportEndTests {
    /// More than all sockets between hold, so the service waits in the middle of it.
    private static let large = TestImage.png(bytes: 8 << 20)
    private static let limited = ["RATE_LIMITS": "on"]

    private static func photos(_ count: Int) -> [(title: String, bytes: Data)] {
        [("large", large)] + (1..<count).map { ("small \($0)", TestImage.png(bytes: 1_000, seed: UInt8($0))) }
    }

    @Test("Photos that are deleted meanwhile are named, and the archive stays whole", arguments: TestStore.allCases)
    func deleted(store: TestStore) async throws {
        let budget = SpoolBudget()
        try await TestService.run(store: store, adjust: { $0.permits.uploads = budget }) { service in
            let token = try await service.addSession()
            if store == .s3 { try await service.objects.makeBucket() }
            // Those of the second page of rows, too.
            let ids = try await service.addPhotos(Self.photos(3))
            try await service.addRows(300)
            try await service.postgres.write("UPDATE photos SET state = 'unlisted' WHERE title = '300'")
            let archive = try await ExportReader.open(service, token: token) { reader in
                try await poll("the first photo waits") { budget.diskBytesUsed >= Self.large.count }
                #expect(try await service.delete(ids[1], token: token).status == 200)
                try await service.postgres.write("DELETE FROM photos WHERE title = '300'")
                return try #require(try await reader.readToEnd(), "\(reader.progress)")
            }
            try await UnpackedExport.with(archive) { export in
                #expect(export.photoNames == ["photos/0001-large.png", "photos/0003-small-2.png"])
                #expect(try export.bytes("photos/0001-large.png") == Self.large)
                let missing = try export.manifest.filter { $0.hasPrefix("#") }
                #expect(missing.count == 301)
                #expect(missing.first == "# missing: \(ids[1]) (deleted meanwhile)")
                #expect(missing.dropFirst().first?.hasSuffix("000001 (the store does not have it)") == true)
                #expect(missing.last?.hasSuffix("000300 (deleted meanwhile)") == true)
                // What is deleted is not described.
                let files = try export.list("photos.json").map { $0["file"] as? String }
                #expect(
                    files == ["photos/0001-large.png", "photos/0003-small-2.png"] + Array(repeating: nil, count: 299)
                )
            }
        }
    }

    @Test("Objects that are missing or damaged are named", arguments: TestStore.allCases)
    func missing(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.addSession()
            if store == .s3 { try await service.objects.makeBucket() }
            let ids = try await service.addPhotos((0..<4).map { ("\($0)", TestImage.png(bytes: 1_000)) })
            try await service.objects.remove(key: ids[0])
            try await service.objects.write(Data("short".utf8), key: ids[2])
            // An id as railsauth might have made it, and one that no file can have.
            let (other, escaped) = store == .s3 ? ("ü # x", "%C3%BC%20%23%20x") : ("../ü\n# x", "..%2F%C3%BC%0A%23%20x")
            try await service.postgres.write("UPDATE photos SET random_id = \(other) WHERE random_id = \(ids[3])")
            try await UnpackedExport.with(try await service.export(token).body) { export in
                #expect(export.photoNames == ["photos/0002-1.png"])
                let (manifest, list) = (try export.manifest, try export.list("photos.json"))
                #expect(
                    manifest.filter { $0.hasPrefix("#") } == [
                        "# missing: \(ids[0]) (the store does not have it)",
                        "# missing: \(ids[2]) (what the store has is damaged)",
                        "# missing: \(escaped) (the store does not have it)",
                    ]
                )
                #expect(list.map { $0["file"] as? String } == [nil, "photos/0002-1.png", nil, nil])
            }
            #expect(service.log.text.contains("an export lacks photos"))
        }
    }

    @Test(
        "It ends with its session, and what came of it can't be opened",
        arguments: ["sign out", "all", "password", "disable", "delete"]
    )
    func sessionEnds(how: String) async throws {
        let budget = SpoolBudget()
        try await TestService.run(adjust: { $0.permits.uploads = budget }) { service in
            let token = try await service.makeToken()
            try await service.addPhotos(Self.photos(2) + [("large, too", Self.large)])
            let archive = try await ExportReader.open(service, token: token) { reader in
                try await poll("the first photo waits") { budget.diskBytesUsed >= Self.large.count }
                let password = try TestService.encrypt("my password")
                let end = { (method: String, path: String, parameters: [(String, String)]) in
                    let answer = try await service.sendForm(
                        method,
                        "/api/\(path)",
                        authorization: tokenHeader(token),
                        parameters
                    )
                    #expect(answer.status == 200)
                }
                switch how {
                case "sign out": try await end("POST", "clear_token", [])
                case "all": try await end("POST", "clear_token", [("all", "true")])
                case "password":
                    try await end(
                        "POST",
                        "reset_password",
                        [("old_password", password), ("new_password", try TestService.encrypt("another one"))]
                    )
                case "disable": try await service.administer(isDisabled: true)
                default: try await end("DELETE", "account", [("password", password)])
                }
                let archive = try await reader.readToEnd()
                // No further photo came.
                #expect(reader.receivedCount < Self.large.count * 3 / 2)
                return archive
            }
            #expect(archive == nil)
            try await poll("it is logged") { service.log.text.contains("an export was ended") }
            #expect(!service.log.text.contains("an export broke off"))
            try await poll("all is free") { budget.diskBytesUsed == 0 }
        }
    }

    @Test(
        "It is not finished either when its session ends during the last photo, which a slow client may read for hours",
        arguments: [(0, true), (30, true), (24 * 3_600, false)]
    )
    func endsWithinPhoto(seconds: Int, endsSession: Bool) async throws {
        let budget = SpoolBudget()
        try await TestService.run(adjust: { $0.permits.uploads = budget }) { service in
            let token = try await service.addSession()
            try await service.addPhotos(Self.photos(1))
            let archive = try await ExportReader.open(service, token: token) { reader in
                try await poll("the photo waits") { budget.diskBytesUsed >= Self.large.count }
                if endsSession { try await service.postgres.write("DELETE FROM sessions") }
                service.clock.advance(by: TimeInterval(seconds))
                let archive = try await reader.readToEnd()
                // It looks every 30 seconds, and before the directory.
                #expect((reader.receivedCount < Self.large.count) == (seconds > 0))
                return archive
            }
            #expect(archive == nil)
        }
    }

    @Test("An export that began goes on when its token expires, but lasts a day at most", arguments: [23, 24])
    func lifetime(hours: Int) async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await service.addPhotos(Self.photos(2))
            service.clock.advance(by: 23 * 3_600)
            let archive = try await ExportReader.open(service, token: token) { reader in
                service.clock.advance(by: TimeInterval(hours * 3_600))
                return try await reader.readToEnd()
            }
            #expect((archive != nil) == (hours == 23))
        }
    }

    @Test("A client that reads nothing is dropped, and holds no connection of the database or the bucket until then")
    func readsNothing() async throws {
        let budget = SpoolBudget()
        let exports = Permits<Int>("EXPORTS_AT_ONCE", per: "USER", PermitLimits(total: 1, perHolder: 1))
        try await TestService.run(
            store: .ownS3,
            adjust: {
                $0.doesNothingByItself()
                $0.permits.uploads = budget
                $0.permits.exports = exports
                $0.limits.writeTimeout = .hours(1)
                $0.bucket.transferPauses = []
            }
        ) { service in
            guard case .s3(let server, _) = service.objects else { throw NotInTime(what: "a bucket") }
            let token = try await service.addSession()
            try await service.objects.makeBucket()
            try await service.addPhotos(Self.photos(2))
            try await ExportReader.open(service, token: token) { _ in
                try await poll("the first photo waits") { budget.diskBytesUsed >= Self.large.count }
                try await poll("the database has no statement") {
                    try await service.count(
                        """
                        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
                            AND pid <> pg_backend_pid()
                        """
                    ) == 0
                }
                #expect(exports.inUse == 1 && budget.memoryBytesUsed == 0)
                #expect(try await service.list(token: token).status == 200)
            }
            try await poll("all is free") { budget.diskBytesUsed == 0 && exports.inUse == 0 }
            // Nothing of the photo was still on its way from the bucket.
            try await ExportReader.open(service, token: token) { reader in
                try await poll("the first photo waits") { budget.diskBytesUsed >= Self.large.count }
                server.kill()
                #expect(try await reader.readToEnd() == nil)
                #expect(reader.receivedCount > Self.large.count)
            }
        }
        try await TestService.run(adjust: {
            $0.permits.uploads = budget
            $0.permits.exports = exports
            $0.limits.writeTimeout = .milliseconds(20)
            $0.limits.tick = .milliseconds(10)
        }) { service in
            let token = try await service.addSession()
            try await service.addPhotos(Self.photos(2))
            try await ExportReader.open(service, token: token) { reader in
                try await poll("it is dropped") { exports.inUse == 0 && budget.diskBytesUsed == 0 }
                #expect(try await reader.readToEnd() == nil)
            }
        }
    }

    @Test("A store that fails ends it, and the user may try again at once")
    func storeFails() async throws {
        try await TestService.run(
            store: .ownS3,
            settings: Self.limited,
            adjust: { $0.bucket.transferPauses = [.milliseconds(10)] }
        ) { service in
            guard case .s3(let server, _) = service.objects else { throw NotInTime(what: "a bucket") }
            let token = try await service.addSession()
            try await service.objects.makeBucket()
            try await service.addPhotos(Self.photos(3))
            let archive = try await ExportReader.open(service, token: token) { reader in
                server.kill()
                return try await reader.readToEnd()
            }
            #expect(archive == nil)
            try await poll("it is logged") { service.log.text.contains("error an export broke off") }
            try await server.restart()
            try await poll("the count is undone") { try await service.export(token).status == 200 }
            #expect(try await service.export(token).status == 429)
        }
    }

    @Test("A store that is away for a while only delays it")
    func storeComesBack() async throws {
        try await TestService.run(
            store: .ownS3,
            adjust: { $0.bucket.transferPauses = Array(repeating: .milliseconds(100), count: 600) }
        ) { service in
            guard case .s3(let server, _) = service.objects else { throw NotInTime(what: "a bucket") }
            let token = try await service.addSession()
            try await service.objects.makeBucket()
            try await service.addPhotos(Self.photos(3))
            let archive = try await ExportReader.open(service, token: token) { reader in
                try await server.restart()
                return try await reader.readToEnd()
            }
            try await UnpackedExport.with(try #require(archive)) { #expect($0.photoNames.count == 3) }
        }
    }

    @Test("Without room for temporary files it ends, and leaves nothing")
    func noRoom() async throws {
        let budget = SpoolBudget(disk: PermitLimits(total: 4 << 20, perHolder: 4 << 20))
        try await TestService.run(
            settings: Self.limited,
            adjust: {
                $0.permits.uploads = budget
                $0.bucket.transferPauses = [.milliseconds(10), .milliseconds(10)]
            }
        ) { service in
            let token = try await service.addSession()
            try await service.addPhotos([("large", TestImage.png(bytes: 5 << 20))])
            let archive = try await ExportReader.open(service, token: token) { try await $0.readToEnd() }
            #expect(archive == nil)
            #expect(budget.diskBytesUsed == 0)
            try await poll("the count is undone") {
                try await service.count("SELECT coalesce(sum(count), 0)::bigint AS count FROM rate_limits") == 0
            }
            try await service.postgres.write("DELETE FROM photos")
            try await UnpackedExport.with(try await service.export(token).body) { #expect($0.photoNames.isEmpty) }
        }
    }
}
