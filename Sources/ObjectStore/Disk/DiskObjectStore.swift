import Cryptography
package import FoundationEssentials
import Glibc
import LinuxFiles
import NIOCore
import NIOPosix
package import S3

/// Objects as files of one folder, each named by its key.
///
/// A slash in a key is `%2F` in the name.
package struct DiskObjectStore: ObjectStore {
    private let directory: String
    private let steps: FileSteps
    /// Beside the objects, so that a rename never crosses file systems.
    private var incomingDirectory: String { "\(directory)/.incoming" }

    private static let pageCount = 1_000

    /// Makes the folder if there is none.
    ///
    /// - Parameters:
    ///   - directory: The folder's path.
    ///   - steps: The calls that change its files.
    /// - Throws: `UnusableFolder` when it can't be made.
    package init(directory: String, steps: FileSteps = FileSteps()) throws(UnusableFolder) {
        self.directory = directory
        self.steps = steps
        do {
            try FileManager.default.createDirectory(
                atPath: incomingDirectory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            // Foundation's own text is for programmers.
            let cause = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue
            throw UnusableFolder(path: directory, reason: cause.map { String(cString: strerror($0)) } ?? "\(error)")
        }
    }

    /// Looks whether the folder is still there.
    package func prepare() async throws(ObjectStoreError) {
        let path = incomingDirectory
        let isThere = try await run { try FolderStatus(path: path)?.isFolder == true }
        guard isThere else { throw .unavailable(UnusableFolder(path: directory, reason: "it no longer exists")) }
    }

    /// A file is compared with nothing.
    package func hashed(_ object: SpooledObject) async throws(ObjectStoreError) -> SpooledObject { object }

    @discardableResult
    package func put(_ object: SpooledObject, key: String, contentType: String) async throws(ObjectStoreError)
        -> String?
    {
        let path = try path(of: key)
        try await run { [incomingDirectory, directory, steps] in
            let incoming = "\(incomingDirectory)/\(RandomIdentifier.makeSecret())"
            do {
                let file = try steps.create(incoming)
                try object.forEachPart { try steps.write(file, $0) }
                try steps.synchronize(file)
                try steps.rename(incoming, path)
                if let folder = try PosixFile.open(path: directory) { try steps.synchronize(folder) }
            } catch {
                try? steps.remove(incoming)
                throw error
            }
        }
        return nil
    }

    package func delete(_ objects: [ObjectDeletion]) async throws(ObjectStoreError) -> [String: any Error] {
        var (paths, failures): ([(String, String)], [String: any Error]) = ([], [:])
        for object in objects {
            do { paths.append((object.key, try path(of: object.key))) } catch { failures[object.key] = error }
        }
        return try await run { [directory, steps, paths, failures] in
            var failures = failures
            for (key, path) in paths {
                do { try steps.remove(path) } catch { failures[key] = error }
            }
            // Otherwise a loss of power could bring a file back whose row in `object_deletions` was removed.
            if let folder = try PosixFile.open(path: directory) { try steps.synchronize(folder) }
            return failures
        }
    }

    package func length(key: String) async throws(ObjectStoreError) -> Int? {
        try await open(key: key, range: nil)?.length
    }

    package func open(key: String, range: Range<Int>?) async throws(ObjectStoreError) -> OpenObject? {
        let path = try path(of: key)
        switch PosixFile.openQuickly(path: path) {
        case .missing: return nil
        case .found(let file): return try Self.object(in: file, range: range)
        case .mayBlock:
            return try await run {
                guard let file = try PosixFile.open(path: path) else { return nil }
                return try Self.object(in: file, range: range)
            }
        }
    }

    private static func object(in file: PosixFile, range: Range<Int>?) throws(ObjectStoreError) -> OpenObject? {
        let length: Int
        do {
            length = try file.status().bytes
        } catch {
            throw .unavailable(error)
        }
        let range = range ?? 0..<length
        guard range.upperBound <= length else { throw .refused(FileEndedEarly()) }
        return OpenObject(length: length, bytes: .file(file, range))
    }

    /// Reads a whole object to compute its digests.
    ///
    /// - Parameter key: Names the object.
    /// - Returns: nil when there is no such object.
    /// - Throws: `ObjectStoreError`.
    package func digest(of key: String) async throws(ObjectStoreError) -> ObjectDigests? {
        guard let object = try await open(key: key, range: nil) else { return nil }
        var digests = ObjectDigests()
        do {
            try await object.bytes.forEachChunk { digests.update($0) }
        } catch {
            throw error as? ObjectStoreError ?? .unavailable(error)
        }
        return digests
    }

    /// Clients can't reach a folder of this system.
    package func publicURL(
        key: String,
        at date: Date,
        endingBy end: Date,
        isHead: Bool,
        answering headers: AnswerHeaders
    ) async throws(ObjectStoreError) -> PublicURL? { nil }

    package func removeLeftovers(from date: Date) async throws(ObjectStoreError) {
        do {
            try await forEachPageOfUnfinishedPuts { puts in
                for put in puts where put.begun < date { try await abandon(put) }
            }
        } catch {
            throw error as? ObjectStoreError ?? .unavailable(error)
        }
    }

    package func forEachPage(_ body: ([ObjectEntry]) async throws -> Void) async throws {
        try await forEachPage(of: directory) { files in
            try await body(
                files.map { file in
                    ObjectEntry(key: Self.key(of: file.name), length: file.bytes, modified: file.modified)
                }
            )
        }
    }

    package func forEachPageOfUnfinishedPuts(_ body: ([UnfinishedPut]) async throws -> Void) async throws {
        try await forEachPage(of: incomingDirectory) { files in
            try await body(files.map { UnfinishedPut(key: $0.name, id: $0.name, begun: $0.modified) })
        }
    }

    @discardableResult
    package func abandon(_ put: UnfinishedPut) async throws(ObjectStoreError) -> Bool {
        try await run { [incomingDirectory, steps] in try steps.remove("\(incomingDirectory)/\(put.id)") }
        return true
    }

    /// A folder keeps no old versions.
    package func forEachPageOfVersions(_ body: ([ObjectVersion]) async throws -> Void) async throws {}

    private func forEachPage(of path: String, _ body: ([PosixDirectory.File]) async throws -> Void) async throws {
        let directory: PosixDirectory
        do { directory = try PosixDirectory(path: path) } catch { throw ObjectStoreError.unavailable(error) }
        while true {
            let page: [PosixDirectory.File]
            do { page = try await directory.next(Self.pageCount) } catch { throw ObjectStoreError.unavailable(error) }
            guard !page.isEmpty else { return }
            try await body(page)
        }
    }

    /// Accepts any name of a file directly in the folder, except those that begin with a dot.
    ///
    /// Slashes are only in keys of small pictures.
    private func path(of key: String) throws(ObjectStoreError) -> String {
        let name = key.hasPrefix(Self.foldedPrefix) ? key.replacing("/", with: Self.foldedSlash) : key
        guard (1...255).contains(name.utf8.count), !name.hasPrefix("."), !name.utf8.contains(UInt8(ascii: "/")),
            !name.utf8.contains(0)
        else { throw .invalidKey }
        return "\(directory)/\(name)"
    }

    /// The key of a file with this name.
    private static func key(of name: String) -> String {
        name.hasPrefix("renditions\(foldedSlash)") ? name.replacing(foldedSlash, with: "/") : name
    }

    private static let foldedPrefix = "renditions/"
    private static let foldedSlash = "%2F"

    /// Runs blocking calls on a thread that may block.
    private func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws(ObjectStoreError) -> Result {
        do {
            return try await NIOThreadPool.singleton.runIfActive(body)
        } catch let error as ObjectStoreError {
            throw error
        } catch {
            throw .unavailable(error)
        }
    }
}

/// A folder that can't be made or written to.
package struct UnusableFolder: Error {
    package let path: String
    /// In the system's words.
    package let reason: String
}
