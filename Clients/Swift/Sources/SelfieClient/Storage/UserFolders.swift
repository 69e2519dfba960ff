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
}
