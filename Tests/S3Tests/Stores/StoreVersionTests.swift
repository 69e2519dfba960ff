import Foundation
import S3TestSupport
import Testing

@testable import S3

/// Buckets that keep old versions of their objects.
@Suite("Stores: versions", .timeLimit(.minutes(10)))
struct StoreVersionTests {
    private static func put(_ key: String, _ client: S3Client) async throws -> String? {
        try await client.put(key: key, body: S3Body("of \(key)"), contentType: "text/plain")
    }

    @Test("A put returns the version that it made, whole or in parts", arguments: TestStore.withVersions)
    func putAnswer(on store: TestStore) async throws {
        try await store.withVersions { client, _ in
            #expect(!client.keepsVersions)
            let first = try await Self.put("a", client)
            #expect(client.keepsVersions)
            let second = try await Self.put("a", client)
            let versions = try await client.allVersions()
            #expect(versions == [first, second].compactMap(\.self).map { "a \($0)" }.sorted())
            #expect(versions.count == 2)
        }
        try await store.withVersions(uploads: PartsTests.small) { client, _ in
            let version = try await client.put(key: "a", body: .streamed(6 << 20), contentType: "image/jpeg")
            let versions = try await client.allVersions()
            // OpenStack Swift does not return the version of an object uploaded in parts.
            #expect(version != nil || store == .given)
            #expect(versions.count == 1 && versions == ["a \(version ?? "")"] || version == nil)
        }
    }

    @Test("A bucket without versioning returns no versions", arguments: TestStore.allCases)
    func noVersions(on store: TestStore) async throws {
        try await store.withBucket { client in
            try await client.createBucket()
            try await client.learnVersioning(again: false)
            if client.keepsVersions, store == .given { return print("This store keeps versions of all objects.") }
            _ = try await Self.put("a", client)
            try await client.delete(key: "a")
            #expect(try await client.head(key: "a") == nil)
            // Cloudflare R2 names versions without keeping them.
            if store != .given { #expect(!client.keepsVersions) }
        }
    }

    /// How an object is deleted.
    enum Deletion: CaseIterable {
        case single, many, singleKnown, manyKnown
    }

    @Test(
        "A deletion leaves no version and no marker, whatever the client knew",
        arguments: TestStore.withVersions,
        Deletion.allCases
    )
    func deletion(on store: TestStore, how: Deletion) async throws {
        for isStranger in [true, false] { try await Self.delete(how, isStranger: isStranger, on: store) }
    }

    private static func delete(_ how: Deletion, isStranger: Bool, on store: TestStore) async throws {
        try await store.withVersions { writer, stranger in
            let client = isStranger ? stranger : writer
            // The first of two puts may be one whose answer was lost. The longer key is another object's.
            _ = try await Self.put("photo", writer)
            let version = try await Self.put("photo", writer)
            let others = [try await Self.put("photo2", writer), try await Self.put("phot", writer)]
            switch how {
            case .single: try await client.delete(key: "photo")
            case .singleKnown: try await client.delete(key: "photo", versionID: version)
            case .many, .manyKnown:
                let known = how == .manyKnown ? version : nil
                for number in 1...2 { _ = try await Self.put("more\(number)", writer) }
                let failures = try await client.delete([
                    ObjectDeletion(key: "photo", versionID: known), ObjectDeletion(key: "more1"),
                    ObjectDeletion(key: "missing"), ObjectDeletion(key: "more2"),
                ])
                #expect(failures.isEmpty)
            }
            let left = try await writer.allVersions()
            #expect(left == zip(["photo2", "phot"], others).map { "\($0) \($1 ?? "")" }.sorted())
            #expect(try await client.head(key: "photo") == nil)
            #expect(try await client.head(key: "photo2") != nil)
        }
    }

    @Test(
        "Versions hidden by other clients' deletions are removed, too, and objects from before versioning",
        arguments: TestStore.withVersions
    )
    func hidden(on store: TestStore) async throws {
        try await store.withBucket { client in
            _ = try await Self.put("photo", client)
            _ = try await Self.put("other", client)
            try await store.withVersions(in: client) { stranger in
                _ = try await Self.put("photo", client)
                try await client.deleteOne(ObjectDeletion(key: "photo"))
                let before = try await client.allVersions()
                #expect(before.count == 4)
                try await stranger.delete(key: "photo")
                let failures = try await stranger.delete(keys: ["other", "more"])
                #expect(failures.isEmpty)
                let after = try await client.allVersions()
                #expect(after.isEmpty)
            }
        }
    }

    @Test("Deletions of one object at once leave nothing, and none fails", arguments: TestStore.withVersions)
    func parallel(on store: TestStore) async throws {
        try await store.withVersions { client, stranger in
            for _ in 0..<3 { _ = try await Self.put("photo", client) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask { try await (number.isMultiple(of: 2) ? client : stranger).delete(key: "photo") }
                }
                try await group.waitForAll()
            }
            // Two that hid it at once may have left a marker each; the next deletion finds them.
            try await stranger.delete(key: "photo")
            let left = try await client.allVersions()
            #expect(left.isEmpty)
        }
    }

    @Test("Versions are removed page by page, while the listing continues", arguments: TestStore.withVersions)
    func pages(on store: TestStore) async throws {
        try await store.withVersions { client, _ in
            let count = 520
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    if number >= 8 { try await group.next() }
                    group.addTask {
                        _ = try await Self.put("k\(number)", client)
                        try await client.deleteOne(ObjectDeletion(key: "k\(number)"))
                    }
                }
                try await group.waitForAll()
            }
            var found = 0
            try await client.forEachPageOfVersions { entries in
                found += entries.count
                let failures = try await client.deleteInBatches(
                    entries.map { ObjectDeletion(key: $0.key, versionID: $0.versionID) }
                )
                #expect(failures.isEmpty)
            }
            #expect(found == 2 * count)
            let left = try await client.allVersions()
            #expect(left.isEmpty)
        }
    }
}
