package import FoundationEssentials

/// A folder that gets what would go out, for development.
package struct Outbox: Sendable {
    private let folder: String
    private let announce: @Sendable (String) -> Void

    /// How many files it keeps: the newest.
    private static let maxCount = 1_000

    /// - Parameters:
    ///   - folder: It is made when it is needed.
    ///   - announce: Prints a line about each file.
    package init(folder: String, announce: @escaping @Sendable (String) -> Void) {
        (self.folder, self.announce) = (folder, announce)
    }

    /// Writes a file, and announces it.
    ///
    /// - Parameters:
    ///   - contents: The file's bytes.
    ///   - id: The delivery's id.
    ///   - date: When it goes out.
    ///   - kind: A part of the file's name: what it is about.
    ///   - type: The ending of the file's name.
    ///   - line: What is announced.
    /// - Throws: An error of Foundation's.
    package func write(
        _ contents: some Collection<UInt8>,
        id: UUID,
        at date: Date,
        kind: String,
        type: String,
        announcing line: String
    ) throws {
        let files = FileManager.default
        try files.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let name = "\(Int(date.timeIntervalSince1970 * 1_000))-\(kind)-\(id.uuidString.lowercased()).\(type)"
        try Data(contents).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
        for old in try files.contentsOfDirectory(atPath: folder).sorted().dropLast(Self.maxCount) {
            try files.removeItem(atPath: "\(folder)/\(old)")
        }
        announce(line)
    }
}
