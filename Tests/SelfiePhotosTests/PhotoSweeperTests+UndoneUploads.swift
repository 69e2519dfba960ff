import ConnectionTestSupport
import Foundation
import ImageFiles
import Logging
import Postgres
import S3
import S3TestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfiePhotos

extension PhotoSweeperTests {
    @Test("A photo that is made ready while its upload is undone keeps its object", .timeLimit(.minutes(1)))
    func readyAfterAll() async throws {
        try await withScene { scene in
            let randomID = try await scene.begin(secondsAgo: 1)
            try await scene.postgres.withTransaction { connection in
                try await connection.execute("UPDATE photos SET state = 'ready' WHERE random_id = \(randomID)")
                let undo = Task { try await scene.photos.removePending(randomID, versionID: nil) }
                // The undo must wait for the row before the transaction ends.
                try await poll("the undo waits") {
                    try await scene.postgres.read(
                        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
                    ).count == 1
                }
                try await connection.query("COMMIT")
                try await undo.value
                try await connection.query("BEGIN")
            }
            #expect(try await scene.deletions().isEmpty)
            #expect(try await scene.postgres.read("SELECT FROM photos WHERE state = 'ready'").count == 1)
        }
    }

    @Test("A deletion that is wanted again while it is worked off is done again", arguments: [true, false])
    func wantedAgain(isStoreUp: Bool) async throws {
        try await withScene { scene in
            let randomID = try await scene.begin(secondsAgo: 100, stores: false)
            try await scene.photos.giveUpPending()
            #expect(try await scene.photos.claimDeletions().map(\.key) == [randomID])
            // The abandoned put ends after the deletion at the store, and before that is stored.
            let photo = try await scene.photo()
            try await scene.objects.put(photo.object, key: randomID, contentType: photo.image.format.contentType)
            try await scene.photos.removePending(randomID, versionID: nil)
            if isStoreUp {
                try await scene.photos.finishDeletions([randomID])
            } else {
                try await scene.photos.releaseDeletions([randomID])
            }
            try await scene.sweeper.sweep()
            #expect(try scene.keys() == [randomID], "the put may still bring it back")
            #expect(try await scene.deletions() == [randomID])
            try await scene.passSettling()
            try await scene.sweeper.sweep()
            #expect(try scene.keys().isEmpty)
            #expect(try await scene.deletions().isEmpty)
        }
    }

    @Test("Uploads in parts may be pending for longer")
    func pendingInParts() async throws {
        try await withScene { scene in
            let old = try await scene.begin(secondsAgo: 81)
            let young = try await scene.begin(secondsAgo: 50)
            try await scene.postgres.write("UPDATE photos SET byte_count = 33554433")
            let whole = try await scene.begin(secondsAgo: 50)
            try await scene.postgres.write(
                "UPDATE photos SET byte_count = 33554432 WHERE random_id = \(whole)"
            )
            try await scene.sweeper.sweep()
            #expect(try await scene.photoIDs() == [young], "\(old) and \(whole) are given up")
        }
    }

    @Test("Deletions that were not tried because the store is down are due at once")
    func untriedDeletions() async throws {
        try await withScene { scene in
            for _ in 0..<5 { _ = try await scene.begin(secondsAgo: 100, stores: false) }
            // Nothing listens on port 1.
            try await withS3Client(endpoint: "http://127.0.0.1:1", bucket: "gone") { client in
                try await scene.sweeper(of: S3ObjectStore(client: client)).sweep()
            }
            let due = try await scene.postgres.read(
                "SELECT FROM object_deletions WHERE due_at <= now() AT TIME ZONE 'UTC' AND attempts = 0"
            )
            #expect(due.count == 5)
        }
    }

    @Test("The bucket's facts are asked for until it answers, since redirected clients can't correct them")
    func preparedLate() async throws {
        let there = String.answer("301 Moved Permanently", ["x-amz-bucket-region": "eu-west-1"])
        let replies: [ScriptedServer.Reply] =
            Array(repeating: .close, count: 3) + [.send(there), .close, .close, .close]
        try await ScriptedServer.with(replies) { server in
            try await withScene { scene in
                try await withS3Client(endpoint: server.endpoint, bucket: "gone") { client in
                    let store = S3ObjectStore(client: client)
                    let sweeper = scene.sweeper(of: store)
                    try await poll("the region is learned") {
                        await sweeper.sweepOrWarn()
                        return client.configuration.region == "eu-west-1"
                    }
                }
            }
        }
    }
}

extension PhotoSweeperTests.Scene {
    fileprivate func sweeper(of objects: any ObjectStore) -> PhotoSweeper {
        PhotoSweeper(
            photos: photos,
            objects: objects,
            now: { Date() },
            logger: TestLog().logger(level: .info)
        )
    }
}
