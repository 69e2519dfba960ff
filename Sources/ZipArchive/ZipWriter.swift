/// A file of an archive, whose bytes are known.
package struct ZipFile: Sendable {
    package let name: ZipName
    /// In bytes.
    package let length: Int
    package let crc32: UInt32
    /// The time of its last change, in seconds since 1970.
    package let modified: Int

    /// - Parameters:
    ///   - name: Its name, which the archive does not have yet.
    ///   - length: The number of its bytes.
    ///   - crc32: The CRC-32 of its bytes.
    ///   - modified: The time of its last change, in seconds since 1970.
    package init(name: ZipName, length: Int, crc32: UInt32, modified: Int) {
        self.name = name
        self.length = length
        self.crc32 = crc32
        self.modified = modified
    }
}

/// Makes the structure of a ZIP archive from front to back (PKWARE, APPNOTE.TXT 6.3.10).
///
/// The files are stored as they are. Each header has the file's length and CRC-32. So programs that read the archive from
/// front to back, such as Java's `ZipInputStream` and macOS's `ditto`, need not look for the file's end.
///
/// The archive is: for each file, its header and its bytes; then all entries of the directory; then the end.
package struct ZipWriter: Sendable {
    /// The bytes before the next header.
    private var offset = 0
    private var fileCount = 0
    private var directoryLength = 0
    /// The names in no folder, in lower case, and the names of folders.
    private var topNames: [String: TopName] = [:]
    private var lastNumber = 0

    private enum TopName { case file, folder }

    /// The most files in no folder.
    ///
    /// Their names are in memory. Those of files in folders are not.
    package static let maxTopCount = 1_000
    /// The most bytes of an archive: a PiB.
    package static let maxBytes = 1 << 50

    /// Begins an archive.
    package init() {}

    /// A file's local header, and its entry in the directory.
    package struct Parts: Sendable {
        /// Its bytes follow.
        package let header: [UInt8]
        /// To be kept until all files are written.
        package let directoryEntry: [UInt8]
    }

    /// Adds a file.
    ///
    /// - Parameter file: The file. Numbers of files in folders ascend.
    /// - Returns: The header, which is written before the file's bytes, and the entry of the directory.
    /// - Throws: `ZipError.nameTaken`, `.tooLarge`. Then the archive stays as it was.
    package mutating func add(_ file: ZipFile) throws(ZipError) -> Parts {
        guard (0...Self.maxBytes).contains(file.length) else { throw .tooLarge }
        let header = ZipRecord.header(of: file)
        let entry = ZipRecord.directoryEntry(of: file, at: offset)
        guard file.length <= Self.maxBytes - offset - header.count else { throw .tooLarge }
        try take(file.name)
        offset += header.count + file.length
        directoryLength += entry.count
        fileCount += 1
        return Parts(header: header, directoryEntry: entry)
    }

    /// What follows the entries of the directory.
    package var end: [UInt8] {
        ZipRecord.end(fileCount: fileCount, directoryLength: directoryLength, directoryOffset: offset)
    }

    private mutating func take(_ name: ZipName) throws(ZipError) {
        switch name.kind {
        case .plain:
            let folded = name.text.lowercased()
            guard topNames[folded] == nil else { throw .nameTaken }
            guard topNames.count < Self.maxTopCount else { throw .tooLarge }
            topNames[folded] = .file
        case .numbered(let number, folder: let folder):
            let folded = folder.lowercased()
            guard number > lastNumber, topNames[folded] != .file else { throw .nameTaken }
            guard topNames[folded] != nil || topNames.count < Self.maxTopCount else { throw .tooLarge }
            topNames[folded] = .folder
            lastNumber = number
        }
    }
}
