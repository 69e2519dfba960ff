import DatabaseTestSupport
import Foundation
import ImageFiles
import Logging
import NIOCore
import Postgres
import S3
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfiePhotos

@Suite("What crashes and failures left half-done", .timeLimit(.minutes(2)))
struct PhotoSweeperTests {
    /// A database with one user who has one session, and a disk store, without a service that would sweep on its own.
    struct Scene: Sendable {
        let databaseURL: String
        let postgres: PostgresClient
        let folder: URL
        let objects: DiskObjectStore
        let userID: Int
        let sessionID: Int

        var photos: PhotoStore { PhotoStore(postgres: postgres) }

        var sweeper: PhotoSweeper {
            PhotoSweeper(
                photos: photos,
                objects: objects,
                now: { Date() },
                logger: TestLog().logger(level: .info)
            )
        }

        /// Gives up an upload, as another process does when it has been under way for too long.
        func giveUp() async throws {
            try await postgres.write("UPDATE photos SET created_at = created_at - make_interval(secs => 100)")
            try await photos.giveUpPending()
        }

        func photo(key: UploadKey? = nil) async throws -> NewPhoto {
            var spool = Spool()
            try await spool.append(ByteBuffer(bytes: Array(TestImage.jpeg)))
            return try await NewPhoto(
                title: "A",
                fileName: "photo",
                object: try await spool.finish(),
                userID: userID,
                key: key
            )
        }

        /// Does the first steps of an upload, so many seconds ago.
        func begin(secondsAgo: Int, stores: Bool = true) async throws -> String {
            let new = try await photo()
            guard try await photos.addPending(new, sessionID: sessionID) else { return "" }
            if stores {
                try await objects.put(new.object, key: new.randomID, contentType: new.image.format.contentType)
            }
            try await postgres.write(
                """
                UPDATE photos SET created_at = created_at - make_interval(secs => \(secondsAgo))
                WHERE random_id = \(new.randomID)
                """
            )
            return new.randomID
        }

        /// Sets deletions back by the time that the object of a failed put may still appear, and no more.
        func passSettling() async throws {
            try await postgres.write(
                "UPDATE object_deletions SET due_at = due_at - interval '20 s'"
            )
        }

        func keys() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != ".incoming" })
        }

        func rows(_ query: PostgresQuery) async throws -> Set<String> {
            Set(try await postgres.read(query).map { try $0.decode("random_id") })
        }

        /// What a query gives as `time`, in milliseconds.
        func milliseconds(_ query: PostgresQuery) async throws -> Int {
            let row = try #require(try await postgres.read(query).first)
            let time: Date = try row.decode("time")
            return Int((time.timeIntervalSince1970 * 1_000).rounded())
        }

        func photoIDs() async throws -> Set<String> { try await rows("SELECT random_id FROM photos") }

        func deletions() async throws -> Set<String> { try await rows("SELECT random_id FROM object_deletions") }
    }

    func withScene(_ body: (Scene) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sweeper-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestCluster.withDatabase { url in
            try await PostgresClient.withClient(configuration: .patient(url: url)) { postgres in
                let users = try await postgres.read(
                    """
                    INSERT INTO users (first_name, last_name, email, password_hash)
                    VALUES ('Ada', 'Lovelace', 'ada@example.com', 'none') RETURNING id
                    """
                )
                let objects = try DiskObjectStore(directory: folder.path)
                let userID: Int = try #require(users.first).decode("id")
                let sessions = try await postgres.read(
                    """
                    INSERT INTO sessions (user_id, token_digest, expires_at)
                    VALUES (\(userID), sha256('token'), now() + interval '1 day') RETURNING id
                    """
                )
                let sessionID: Int = try #require(sessions.first).decode("id")
                let scene = Scene(
                    databaseURL: url,
                    postgres: postgres,
                    folder: folder,
                    objects: objects,
                    userID: userID,
                    sessionID: sessionID
                )
                try await body(scene)
            }
        }
    }

    @Test(
        "A photo that takes too long to strip keeps its object, and the new one is deleted",
        arguments: [
            // All deletions that are recorded are done before the put, or may have been: the answer was lost.
            "DELETE FROM object_deletions", "UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'",
        ]
    )
    func lateStripping(step: String) async throws {
        try await withScene { scene in
            let id = try await scene.begin(secondsAgo: 0)
            try await scene.objects.put(Self.planted(), key: id, contentType: "image/jpeg")
            try await scene.postgres.write("UPDATE photos SET state = 'ready', is_stripped = false")
            let postgres = scene.postgres
            let objects = HookedStore(
                scene.objects,
                willPut: { _ in try await postgres.write(PostgresQuery(stringLiteral: step)) }
            )
            #expect(try await StripPhoto(photos: scene.photos, objects: objects, isDryRun: false)(id) == .done)
            #expect(try await scene.rows("SELECT random_id FROM photos WHERE object_key IS NULL") == [id])
            let new = try scene.keys().subtracting([id])
            let recorded = try await scene.rows("SELECT random_id FROM object_deletions")
            #expect(new.count == 1 && recorded == new)
            try await scene.passSettling()
            try await scene.sweeper.sweep()
            #expect(try scene.keys() == [id])
        }
    }

    private static func planted() async throws -> SpooledObject {
        var spool = Spool()
        try await spool.append(ByteBuffer(bytes: Array(PlantedImage.jpeg)))
        return try await spool.finish()
    }

    @Test("A schema that is being applied, or a step that fails, stops none of the other steps")
    func steps() async throws {
        try await withScene { scene in
            let photo = try await scene.begin(secondsAgo: 0)
            try await scene.postgres.write("UPDATE photos SET state = 'unlisted' WHERE random_id = \(photo)")
            try await scene.postgres.write(
                "INSERT INTO photo_releases (photo_id, due_at) SELECT id, now() - interval '1 day' FROM photos"
            )
            let object = try await scene.begin(secondsAgo: 0)
            try await scene.postgres.write("DELETE FROM photos WHERE random_id = \(object)")
            try await scene.postgres.write(
                "INSERT INTO object_deletions (random_id) VALUES (\(object)) ON CONFLICT (random_id) DO UPDATE SET due_at = now() - interval '1 day'"
            )
            try await scene.postgres.withTransaction { connection in
                try await connection.execute("LOCK TABLE records IN EXCLUSIVE MODE")
                try await scene.sweeper.sweep()
            }
            #expect(try scene.keys() == [photo])
            let other = try await scene.begin(secondsAgo: 41)
            try await scene.postgres.write(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no'; END$$"
            )
            try await scene.postgres.write(
                "CREATE TRIGGER refused BEFORE DELETE ON photo_releases FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
            await #expect(throws: (any Error).self) { try await scene.sweeper.sweep() }
            #expect(try scene.keys() == [photo])
            #expect(try await scene.photoIDs() == [photo] && !other.isEmpty)
            try await scene.postgres.write("DROP TRIGGER refused ON photo_releases")
            try await scene.sweeper.sweep()
            #expect(try scene.keys().isEmpty)
        }
    }

    @Test("Uploads that have been pending for 40 s are given up with their objects, younger ones are not")
    func pending() async throws {
        try await withScene { scene in
            _ = try await scene.begin(secondsAgo: 41)
            _ = try await scene.begin(secondsAgo: 41, stores: false)
            let ready = try await scene.begin(secondsAgo: 400)
            // The last, so that it stays young on a slow machine.
            let young = try await scene.begin(secondsAgo: 12)
            try await scene.postgres.write("UPDATE photos SET state = 'ready' WHERE random_id = \(ready)")
            try await scene.sweeper.sweep()
            #expect(try scene.keys() == [young, ready])
            #expect(try await scene.photoIDs() == [young, ready])
            #expect(try await scene.deletions().isEmpty)
            _ = try await scene.photos.makeReady(young, versionID: nil, within: .usual)
        }
    }

    @Test("Many are worked off in one sweep")
    func many() async throws {
        try await withScene { scene in
            for _ in 0..<5 { _ = try await scene.begin(secondsAgo: 100) }
            // Without an object there is nothing to delete, and yet something to work off: two batches of a hundred.
            try await scene.postgres.write(
                "INSERT INTO object_deletions (random_id) SELECT 'gone-' || n FROM generate_series(1, 200) AS n"
            )
            try await scene.sweeper.sweep()
            #expect(try scene.keys().isEmpty)
            #expect(try await scene.deletions().isEmpty)
        }
    }

    @Test("A deletion that fails is tried again after a pause that grows, and is done once the store is back")
    func backOff() async throws {
        try await withScene { scene in
            let randomID = try await scene.begin(secondsAgo: 100, stores: false)
            // A folder in the object's place can't be unlinked.
            let path = scene.folder.appending(path: randomID)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
            for (attempts, seconds) in [(1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (6, 320), (7, 600), (8, 600)] {
                let before = try await scene.milliseconds("SELECT now() AT TIME ZONE 'UTC' AS time")
                try await scene.sweeper.sweep()
                let after = try await scene.milliseconds("SELECT now() AT TIME ZONE 'UTC' AS time")
                let due = try await scene.milliseconds("SELECT due_at AS time FROM object_deletions")
                #expect((before...after).contains(due - seconds * 1_000))
                let rows = try await scene.postgres.read("SELECT attempts FROM object_deletions")
                let row = try #require(rows.first)
                #expect(try row.decode("attempts") == attempts)
                // Not due yet, so nothing happens.
                #expect(try await scene.photos.claimDeletions().isEmpty)
                try await scene.postgres.write("UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'")
            }
            try FileManager.default.removeItem(at: path)
            try Data("x".utf8).write(to: path)
            try await scene.sweeper.sweep()
            #expect(try scene.keys().isEmpty)
            #expect(try await scene.deletions().isEmpty)
        }
    }

    @Test("One deletion that fails does not keep the others from being done")
    func failureAmongOthers() async throws {
        try await withScene { scene in
            let stuck = try await scene.begin(secondsAgo: 100, stores: false)
            let folder = scene.folder.appending(path: stuck)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            for _ in 0..<3 { _ = try await scene.begin(secondsAgo: 90) }
            try await scene.sweeper.sweep()
            #expect(try scene.keys() == [stuck])
            #expect(try await scene.deletions() == [stuck])
        }
    }

    @Test("Leftovers of unfinished puts are removed once they are old")
    func leftovers() async throws {
        try await withScene { scene in
            for (name, age) in [("old", 41), ("young", 12)] {
                let file = scene.folder.appending(path: ".incoming/\(name)")
                try Data("half".utf8).write(to: file)
                let date = Date(timeIntervalSinceNow: -Double(age))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
            }
            try await scene.sweeper.sweep()
            let left = try FileManager.default.contentsOfDirectory(
                atPath: scene.folder.appending(path: ".incoming").path
            )
            #expect(left == ["young"])
        }
    }

    @Test("An upload has no row while it is hashed, which may take long")
    func slowHash() async throws {
        try await withScene { scene in
            let store = HookedStore(scene.objects, willHash: { _ in try await scene.giveUp() })
            let upload = UploadPhoto(photos: scene.photos, objects: store, quota: .usual)
            let new = try await scene.photo()
            _ = try await upload(new, sessionID: scene.sessionID, logger: TestLog().logger(level: .info))
            #expect(try scene.keys() == [new.randomID])
        }
    }

    @Test("An upload whose row was given up while it was stored is refused and leaves nothing behind")
    func givenUp() async throws {
        try await withScene { scene in
            let store = HookedStore(scene.objects, willPut: { _ in try await scene.giveUp() })
            let upload = UploadPhoto(photos: scene.photos, objects: store, quota: .usual)
            let new = try await scene.photo()
            await #expect(throws: PhotoError.givenUp) {
                try await upload(new, sessionID: scene.sessionID, logger: TestLog().logger(level: .info))
            }
            #expect(try await scene.photoIDs().isEmpty)
            #expect(try await scene.deletions() == [new.randomID])
            try await scene.passSettling()
            try await scene.sweeper.sweep()
            #expect(try scene.keys().isEmpty)
            #expect(try await scene.deletions().isEmpty)
        }
    }

    @Test("The object of a failed upload is deleted, but not while the put may still bring it back")
    func settling() async throws {
        try await withScene { scene in
            let randomID = try await scene.begin(secondsAgo: 0)
            try await scene.photos.removePending(randomID, versionID: nil)
            #expect(try await scene.photoIDs().isEmpty)
            try await scene.sweeper.sweep()
            #expect(try scene.keys() == [randomID])
            try await scene.passSettling()
            try await scene.sweeper.sweep()
            #expect(try scene.keys().isEmpty)
            #expect(try await scene.deletions().isEmpty)
        }
    }

    @Test("An upload that became ready without an answer is not undone")
    func lostAnswer() async throws {
        try await withScene { scene in
            let randomID = try await scene.begin(secondsAgo: 0)
            _ = try await scene.photos.makeReady(randomID, versionID: nil, within: .usual)
            try await scene.photos.removePending(randomID, versionID: nil)
            try await scene.passSettling()
            try await scene.sweeper.sweep()
            #expect(try await scene.photoIDs() == [randomID])
            #expect(try scene.keys() == [randomID])
            #expect(try await scene.deletions().isEmpty)
        }
    }
}
