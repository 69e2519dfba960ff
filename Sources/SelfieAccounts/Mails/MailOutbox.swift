import FoundationEssentials
package import Mail
import NIOCore

/// A folder that gets mails instead of a server, for development.
package struct MailOutbox: Sendable {
    private let folder: String
    private let announce: @Sendable (String) -> Void

    /// How many files it keeps: the newest.
    private static let maxCount = 1_000

    /// - Parameters:
    ///   - folder: It is made when it is needed.
    ///   - announce: Prints a line about each mail.
    package init(folder: String, announce: @escaping @Sendable (String) -> Void) {
        (self.folder, self.announce) = (folder, announce)
    }

    /// Writes a mail as a file, and announces it.
    ///
    /// - Parameters:
    ///   - mail: The mail.
    ///   - kind: A part of the file's name.
    ///   - code: The code in it.
    /// - Throws: An error of Foundation's.
    package func write(_ mail: MailMessage, kind: String, code: String?) throws {
        let files = FileManager.default
        try files.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let milliseconds = Int(mail.date.timeIntervalSince1970 * 1_000)
        let path = "\(folder)/\(milliseconds)-\(kind)-\(mail.id.uuidString.lowercased()).eml"
        try Data(mail.bytes.readableBytesView).write(to: URL(filePath: path), options: .atomic)
        for old in try files.contentsOfDirectory(atPath: folder).sorted().dropLast(Self.maxCount) {
            try files.removeItem(atPath: "\(folder)/\(old)")
        }
        announce("mail to \(mail.recipient.text): \(code.map { "your code is \($0)" } ?? mail.subject)")
    }
}
