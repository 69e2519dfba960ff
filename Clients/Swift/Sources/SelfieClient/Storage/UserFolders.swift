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

    /// A file that says that a user's account is being deleted: the app may end, or lose the answer, before it is known.
    private func deletionMark(_ folder: URL) -> URL { folder.appendingPathComponent("account-deletion") }

    func hasDeletionMark(_ folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: deletionMark(folder).path)
    }

    func hasDeletionMark(_ userID: String) -> Bool { hasDeletionMark(folder(of: userID)) }

    /// - Throws: ``SelfieError/diskFull`` or ``SelfieError/storage(_:)``.
    func setDeletionMark(_ userID: String) throws {
        try Disk().makeFolder(folder(of: userID))
        try Disk().replace(deletionMark(folder(of: userID)), with: Data())
    }

    func removeDeletionMark(_ userID: String) { try? Disk().remove(deletionMark(folder(of: userID))) }
}
