import Foundation
import NIOCore
import Postgres
import SelfieAccounts
import ServiceTestSupport
import Testing

@testable import ObjectStore
@testable import SelfiePhotos

/// Does what sends a kind of request, and checks that a success is true.
struct FaultClient: Sendable {
    let account: CrashAccount
    let store: any ObjectStore

    /// Photos that are there to be looked at.
    static let readBytes = 1_000

    /// Has a request of a kind sent.
    ///
    /// - Parameters:
    ///   - kind: The request.
    ///   - read: A photo that is there.
    /// - Returns: Whether it was a success, not one to be had later; and the id of a photo that is there since.
    /// - Throws: What is neither a success nor a store that is not available.
    func run(_ kind: FaultKind, read: String) async throws -> (isSuccess: Bool, uploaded: String?) {
        do {
            switch kind {
            case .put: return (true, try await upload(bytes: CrashCase.imageBytes))
            case .begin, .part, .complete: return (true, try await upload(bytes: CrashCase.inPartsBytes))
            case .get: try await open(read)
            case .head: #expect(try await store.length(key: read) == Self.readBytes)
            case .delete: return (try await delete(), nil)
            case .deleteMany: return (try await sweep(), nil)
            }
            return (true, nil)
        } catch ObjectStoreError.unavailable {
            return (false, nil)
        }
    }

    private func upload(bytes: Int) async throws -> String {
        let new = try await account.photo(bytes: bytes)
        let upload = UploadPhoto(photos: account.photos, objects: store, quota: .usual)
        _ = try await upload(new, sessionID: account.session.id, logger: account.logger)
        let id = new.randomID
        let isWhole = account.scene.objects.bytes(key: id) == CrashCase.image(bytes: bytes)
        #expect(isWhole)
        return id
    }

    private func open(_ id: String) async throws {
        let object = try #require(try await store.open(key: id, range: nil))
        var bytes = Data()
        try await object.bytes.forEachChunk { bytes += Data($0.readableBytesView) }
        let isWhole = bytes == CrashCase.image(bytes: Self.readBytes)
        #expect(isWhole)
    }

    private func delete() async throws -> Bool {
        let id = try await account.addPhoto()
        let delete = DeletePhoto(photos: account.photos, objects: store)
        #expect(try await delete(id, ofUser: account.userID, from: .test, logger: account.logger))
        return try await isGone([id])
    }

    private func sweep() async throws -> Bool {
        var ids: [String] = []
        for _ in 0..<2 {
            let id = try await account.addPhoto()
            #expect(try await account.photos.remove(id, ofUser: account.userID, from: .test).count == 1)
            ids.append(id)
        }
        let sweeper = PhotoSweeper(
            photos: account.photos,
            objects: store,
            now: { Date() },
            logger: account.logger
        )
        try await sweeper.sweep()
        return try await isGone(ids)
    }

    /// Whether objects are deleted at once, and not later.
    private func isGone(_ ids: [String]) async throws -> Bool {
        let left = try await account.postgres.read("SELECT FROM object_deletions WHERE random_id = ANY(\(ids))")
        guard left.isEmpty else { return false }
        #expect(Set(account.scene.objects.keys()).isDisjoint(with: ids))
        return true
    }
}
