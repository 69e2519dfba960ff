import Foundation

/// The folders of users, whose names tell nobody's id.
struct UserFolders: Sendable {
    let folder: URL

    /// A folder for what belongs to a user.
    ///
    /// - Parameter userID: The member's id, whose letters' case matters; some file systems ignore that.
    /// - Returns: The folder, which may not exist yet.
    func folder(of userID: String) -> URL {
        let name = SHA256.digest(of: Data(userID.utf8)).prefix(16).hexadecimal
        return folder.appendingPathComponent("users").appendingPathComponent(name)
    }

    /// The folders of all users but one.
    func others(than userID: String?) -> [URL] {
        let users = folder.appendingPathComponent("users")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: users.path)) ?? []
        return names.filter { $0 != userID.map { self.folder(of: $0).lastPathComponent } }
            .map(users.appendingPathComponent)
    }

    // MARK: Deleted accounts

    /// A file that says that a user's account may be deleted: the answer to the call was lost.
    ///
    /// It is written behind the call, and removed as soon as the account proves to be there. If the app is killed before it is
    /// written, the outbox of a deleted account may be left. The other way round, unsent photos would be lost.
    private func deletionMark(_ userID: String) -> URL {
        folder(of: userID).appendingPathComponent("account-deletion")
    }

    /// The mark's name when the account is deleted, until the outbox is removed.
    private static func confirmedDeletion(in user: URL) -> URL { user.appendingPathComponent("account-deleted") }

    func hasDeletionMark(_ userID: String) -> Bool {
        FileManager.default.fileExists(atPath: deletionMark(userID).path)
    }

    /// - Throws: ``SelfieError/diskFull`` or ``SelfieError/storage(_:)``.
    func setDeletionMark(_ userID: String) throws {
        try Disk().makeFolder(folder(of: userID))
        try Disk().replace(deletionMark(userID), with: Data())
    }

    func removeDeletionMark(_ userID: String) { try? Disk().remove(deletionMark(userID)) }

    /// Says that a marked account is deleted.
    ///
    /// - Throws: ``SelfieError/storage(_:)``; the mark stays then.
    func confirmDeletion(_ userID: String) throws {
        try Disk().move(deletionMark(userID), to: Self.confirmedDeletion(in: folder(of: userID)))
    }

    private static func isDeleted(_ user: URL) -> Bool {
        FileManager.default.fileExists(atPath: confirmedDeletion(in: user).path)
    }

    /// The folders of all users whose accounts are deleted, but one.
    func deleted(exceptOf userID: String?) -> [URL] { others(than: userID).filter(Self.isDeleted) }

    /// Whether something says that the account is deleted, or may be.
    func mayBeDeleted(_ userID: String) -> Bool { hasDeletionMark(userID) || Self.isDeleted(folder(of: userID)) }

    /// Forgets that an account is deleted, since nothing of it is left.
    func removeConfirmedDeletion(in user: URL) { try? Disk().remove(Self.confirmedDeletion(in: user)) }

    /// The account is there, whatever became of a call that was to delete it.
    func removeDeletion(of userID: String) {
        removeDeletionMark(userID)
        removeConfirmedDeletion(in: folder(of: userID))
    }
}
