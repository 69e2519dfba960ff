import Cryptography
import FoundationEssentials

/// The `.env` file of a development folder.
struct EnvironmentFile {
    let path: String

    /// Writes a file with generated secrets, readable by this user only, unless there is one.
    ///
    /// - Returns: Whether it was written.
    /// - Throws: An error of Foundation's when the file can't be written.
    func createIfMissing() throws -> Bool {
        guard !FileManager.default.fileExists(atPath: path) else { return false }
        let contents = """
            # Written by `selfie dev`. It contains secrets: keep it out of version control.
            # .env.example explains these keys and the others.
            API_AUTH_NAME=selfie
            API_AUTH_PASSWORD=\(RandomIdentifier.makeSecret(length: 32))
            SECRET_KEY_BASE=\(RandomIdentifier.makeSecret(length: 64))

            """
        // Under another name first, so that an interrupted start leaves no half of a file.
        let temporary = path + ".incomplete"
        try? FileManager.default.removeItem(atPath: temporary)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: temporary, contents: Data(contents.utf8), attributes: attributes)
        else { throw CocoaError(.fileWriteNoPermission) }
        try FileManager.default.moveItem(atPath: temporary, toPath: path)
        return true
    }
}
