import Foundation

/// The replicas that are open.
actor Replicas {
    private let api: APIClient
    private let folders: UserFolders
    private let photos: Photos
    private var open: [String: (userID: String, replica: Replica)] = [:]

    init(api: APIClient, folders: UserFolders, photos: Photos) {
        (self.api, self.folders, self.photos) = (api, folders, photos)
    }

    /// The replica of some collections; a second one is the first.
    func replica(of collections: [String]) async throws -> Replica {
        let collections = Set(collections).sorted()
        let name = SHA256.digest(of: Data(collections.joined(separator: ",").utf8)).prefix(8).hexadecimal
        while true {
            let session = try api.sessions.currentIfSignedIn()
            let folder = folder(of: session.userID).appendingPathComponent(name)
            // A new session of the same user goes on with the same replica.
            let key = folder.path
            if let replica = open[key]?.replica {
                if await replica.status != .ended { return replica }
                // Somebody else may have opened a new one meanwhile, or another user has signed in.
                if open[key]?.replica === replica { open[key] = nil }
                continue
            }
            let replica = try Replica(
                api: api,
                session: session,
                photos: photos,
                folder: folder,
                collections: collections
            )
            open[key] = (session.userID, replica)
            await replica.follow()
            return replica
        }
    }

    private func folder(of userID: String) -> URL { Self.replicas(of: folders.folder(of: userID)) }

    private static func replicas(of user: URL) -> URL { user.appendingPathComponent("replicas") }

    /// Closes the replicas of a user, and removes them from the device.
    func removeCopies(of userID: String) async {
        let replicas = open.values.filter { $0.userID == userID }.map(\.replica)
        open = open.filter { $0.value.userID != userID }
        for replica in replicas { await replica.close() }
        try? Disk().remove(folder(of: userID))
    }

    /// Removes the replicas of all other users from the device, but for those that somebody has open.
    func removeCopies(exceptOf userID: String?) {
        for user in folders.others(than: userID) {
            let folder = Self.replicas(of: user)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            for name in names {
                let replica = folder.appendingPathComponent(name)
                guard let lock = try? FolderLock(replica) else { continue }
                withExtendedLifetime(lock) { try? Disk().remove(replica) }
            }
        }
    }
}

extension Selfie {
    /// Opens a copy of collections that is on the device, and kept up to date while it is open.
    ///
    /// The same collections are the same replica.
    ///
    /// - Parameter collections: Their names; `photos` stands for the user's photos.
    /// - Returns: The replica. It follows the service already.
    /// - Throws: ``SelfieError/notSignedIn``.
    public func replica(of collections: [String]) async throws -> Replica {
        try await replicas.replica(of: collections)
    }

    /// Opens a copy of collections that is on the device, and kept up to date while it is open.
    public func replica(of types: [any RecordFields.Type]) async throws -> Replica {
        try await replicas.replica(of: types.map { $0.collection })
    }
}
