import NIOCore
import ObjectStore
import ZipArchive

/// An archive that is read while it is made: a file is added when the one before was read.
///
/// The directory waits in a temporary file, so memory does not grow with the number of files.
struct ExportArchive: ~Copyable {
    private var zip = ZipWriter()
    /// Nil when it is being read, like the manifest.
    private var directory: Spool?
    /// What `sha256sum -c` reads: a line for each file, and comments.
    private var manifest: MeasuredSpool?
    /// The time of files that have none of their own, in seconds since 1970.
    private let time: Int
    /// What is read before the rest of the object.
    private var header: ByteBuffer?
    private var object: SpooledObject?
    /// How many bytes of the object were read.
    private var position = 0

    private static let manifestName = "manifest.sha256"
    /// How much is read at a time.
    private static let chunkBytes = 64 * 1024

    /// - Parameters:
    ///   - spools: For temporary files.
    ///   - userID: The user who has to have room there.
    ///   - time: The present, in seconds since 1970.
    init(_ spools: SpoolBudget, userID: Int, time: Int) {
        directory = Spool(spools, userID: userID)
        manifest = MeasuredSpool(spools, userID: userID)
        self.time = time
    }

    /// The next bytes of what was added last; nil when all of it was read.
    ///
    /// - Throws: What reading a file throws.
    mutating func next() async throws -> ByteBuffer? {
        if let bytes = header.take() { return bytes }
        guard let object, position < object.length else {
            object = nil
            return nil
        }
        let end = min(position + Self.chunkBytes, object.length)
        let bytes = try await object.bytes(in: position..<end)
        position = end
        return bytes
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - name: Its name.
    ///   - modified: The time of its last change, in seconds since 1970; nil for the present.
    /// - Throws: `ZipError`, what writing a file throws, or `TooBusy`.
    mutating func add(_ file: MeasuredFile, as name: ZipName, modified: Int? = nil) async throws {
        let parts = try zip.add(
            ZipFile(name: name, length: file.object.length, crc32: file.crc32, modified: modified ?? time)
        )
        try await directory?.append(ByteBuffer(bytes: parts.directoryEntry))
        try await manifest?.append("\(file.sha256)  \(name.text)\n")
        begin(file.object, behind: parts.header)
    }

    /// Adds a comment to the manifest.
    ///
    /// - Parameter comment: One line of ASCII.
    /// - Throws: What writing a file throws, or `TooBusy`.
    mutating func note(_ comment: String) async throws {
        try await manifest?.append("# \(comment)\n")
    }

    /// Adds the manifest, which is the last file.
    mutating func addManifest() async throws {
        guard let manifest = manifest.take() else { return }
        try await add(try await manifest.finish(), as: try ZipName(Self.manifestName))
    }

    /// Adds the directory.
    ///
    /// An archive without it can't be opened, so an unfinished one is not taken for a whole one.
    mutating func addDirectory() async throws {
        guard let directory = directory.take() else { return }
        begin(try await directory.finish())
    }

    /// Adds what follows the directory.
    mutating func addEnd() {
        header = ByteBuffer(bytes: zip.end)
    }

    private mutating func begin(_ object: SpooledObject, behind header: [UInt8]? = nil) {
        self.header = header.map { ByteBuffer(bytes: $0) }
        self.object = object
        position = 0
    }
}
