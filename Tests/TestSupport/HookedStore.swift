package import Foundation
package import ObjectStore
package import S3

/// A folder, in which something happens before an object is hashed, put or opened.
package struct HookedStore: ObjectStore {
    private let objects: DiskObjectStore
    private let willHash: Hook
    private let willPut: Hook
    private let willOpen: Hook

    /// Gets the object's key; an empty one before an object is hashed.
    package typealias Hook = @Sendable (String) async throws -> Void

    /// - Parameters:
    ///   - objects: The folder.
    ///   - willHash: Runs before an object is hashed.
    ///   - willPut: Runs before an object is put.
    ///   - willOpen: Runs before an object is opened.
    package init(
        _ objects: DiskObjectStore,
        willHash: @escaping Hook = { _ in },
        willPut: @escaping Hook = { _ in },
        willOpen: @escaping Hook = { _ in }
    ) {
        (self.objects, self.willHash, self.willPut, self.willOpen) = (objects, willHash, willPut, willOpen)
    }

    private func run(_ hook: Hook, _ key: String = "") async throws(ObjectStoreError) {
        do {
            try await hook(key)
        } catch {
            throw .unavailable(error)
        }
    }

    package func prepare() {}

    package func hashed(_ object: SpooledObject) async throws(ObjectStoreError) -> SpooledObject {
        try await run(willHash)
        return object
    }

    package func put(
        _ object: SpooledObject,
        key: String,
        contentType: String
    ) async throws(ObjectStoreError) -> String? {
        try await run(willPut, key)
        return try await objects.put(object, key: key, contentType: contentType)
    }

    package func open(key: String, range: Range<Int>?) async throws(ObjectStoreError) -> OpenObject? {
        try await run(willOpen, key)
        return try await objects.open(key: key, range: range)
    }

    package func delete(_ deletions: [ObjectDeletion]) async throws(ObjectStoreError) -> [String: any Error] {
        try await objects.delete(deletions)
    }

    package func length(key: String) async throws(ObjectStoreError) -> Int? { try await objects.length(key: key) }

    package func publicURL(
        key: String,
        at date: Date,
        endingBy end: Date,
        isHead: Bool,
        answering headers: AnswerHeaders
    ) async throws(ObjectStoreError) -> PublicURL? { nil }

    package func forEachPage(_ body: ([ObjectEntry]) async throws -> Void) async throws {
        try await objects.forEachPage(body)
    }

    package func forEachPageOfUnfinishedPuts(_ body: ([UnfinishedPut]) async throws -> Void) async throws {
        try await objects.forEachPageOfUnfinishedPuts(body)
    }

    package func abandon(_ put: UnfinishedPut) async throws(ObjectStoreError) -> Bool { try await objects.abandon(put) }

    package func forEachPageOfVersions(_ body: ([ObjectVersion]) async throws -> Void) async throws {}

    package func removeLeftovers(from date: Date) async throws(ObjectStoreError) {}
}
