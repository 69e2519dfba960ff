import DatabaseTestSupport
import Foundation
import NIOCore
import Postgres
import S3
import SelfiePhotos
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfieCore

@Suite("Photos that are fetched for an export", .timeLimit(.minutes(2)))
struct ExportedPhotosTests {
    private static let item = ExportPlan.Item(id: 1, randomID: "old")

    private static func put(_ text: String, key: String, in objects: DiskObjectStore) async throws {
        var spool = Spool()
        try await spool.append(ByteBuffer(string: text))
        try await objects.put(try await spool.finish(), key: key, contentType: "image/png")
    }

    /// Fetches a photo whose object is looked for while the hook runs.
    ///
    /// - Returns: What came of it, and the keys that were looked for.
    private static func fetch(
        _ hook: @escaping @Sendable (String, PostgresClient, DiskObjectStore) async throws -> Void
    ) async throws -> (outcome: ExportedPhotos.Outcome, keys: [String]) {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                try await TemporaryFolder.with { folder in
                    try await postgres.write(
                        """
                        WITH ada AS (
                            INSERT INTO users (id, first_name, last_name, email, password_hash)
                            VALUES (1, 'Ada', 'Lovelace', 'ada@example.com', 'none') RETURNING id
                        )
                        INSERT INTO photos (id, user_id, name, title, random_id, content_type, byte_count, state)
                        SELECT 1, id, 'photo', 'photo', 'old', 'image/png', 3, 'ready' FROM ada
                        """
                    )
                    let objects = try DiskObjectStore(directory: folder.path)
                    try await put("old", key: "old", in: objects)
                    let keys = Mutex<[String]>([])
                    let store = HookedStore(
                        objects,
                        willOpen: { key in
                            keys.withLock { $0.append(key) }
                            try await hook(key, postgres, objects)
                        }
                    )
                    let photos = ExportedPhotos(
                        photos: PhotoStore(postgres: postgres),
                        objects: store,
                        spools: SpoolBudget(),
                        userID: 1,
                        maxBytes: 100,
                        pauses: []
                    )
                    return (try await photos.fetch(item), keys.withLock { $0 })
                }
            }
        }
    }

    @Test("One whose object is replaced after its row was read is fetched from its new object")
    func replaced() async throws {
        let (outcome, keys) = try await Self.fetch { key, postgres, objects in
            guard key == "old" else { return }
            try await Self.put("newer", key: "new", in: objects)
            try await postgres.write("UPDATE photos SET object_key = 'new', byte_count = 5")
            try await objects.delete(ObjectDeletion(key: "old"))
        }
        guard case .found(let file, let photo) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(photo.objectKey == "new" && keys == ["old", "new"])
        #expect(try await file.object.bytes(in: 0..<5) == ByteBuffer(string: "newer"))
    }

    @Test("One whose object is not there is missing once its row was read again")
    func noObject() async throws {
        let (outcome, keys) = try await Self.fetch { _, _, objects in
            try await objects.delete(ObjectDeletion(key: "old"))
        }
        guard case .missing(.noObject, _?) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(keys == ["old"])
    }

    @Test("One that is deleted after its row was read is missing")
    func deleted() async throws {
        let (outcome, keys) = try await Self.fetch { _, postgres, objects in
            try await postgres.write("DELETE FROM photos")
            try await objects.delete(ObjectDeletion(key: "old"))
        }
        guard case .missing(.deleted, nil) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(keys == ["old"])
    }
}
