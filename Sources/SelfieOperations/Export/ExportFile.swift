import Cryptography
import LinuxFiles
import NIOCore
import NIOPosix

/// A file that gets its name when it is complete.
///
/// Until then it has another one in the same folder. Only this system's user may read it.
struct ExportFile: Sendable {
    private let file: PosixFile
    private let path: String
    private let partialPath: String

    /// - Parameter path: Where the file will be.
    /// - Throws: ``ExportFileError`` when there is a file already, or none can be made there.
    init(at path: String) async throws {
        let partialPath = "\(path).\(RandomIdentifier.makeSecret(length: 8)).part"
        (self.path, self.partialPath) = (path, partialPath)
        file = try await Self.run(path) {
            guard try FolderStatus(path: path) == nil else { throw ExportFileError.exists(path: path) }
            return try PosixFile.create(path: partialPath)
        }
    }

    /// Writes the next bytes.
    func write(_ bytes: ByteBuffer) async throws {
        try await Self.run(path) { [file] in try bytes.withUnsafeReadableBytes { try file.write($0) } }
    }

    /// Gives the file its name.
    ///
    /// - Throws: ``ExportFileError``, also when somebody else has made a file of that name meanwhile.
    func finish() async throws {
        try await Self.run(path) { [file, path, partialPath] in
            try file.synchronize()
            guard try PosixFile.link(partialPath, as: path) else { throw ExportFileError.exists(path: path) }
            try PosixFile.remove(partialPath)
        }
    }

    /// Removes what was written.
    func remove() async {
        try? await Self.run(path) { [partialPath] in try PosixFile.remove(partialPath) }
    }

    /// Runs blocking calls on a thread that may block.
    private static func run<Result: Sendable>(
        _ path: String,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        do {
            return try await NIOThreadPool.singleton.runIfActive(body)
        } catch let error as PosixFileError {
            throw ExportFileError.unwritable(path: path, reason: error.description)
        }
    }
}

/// Why an export could not be written to a file.
package enum ExportFileError: Error, Equatable, CustomStringConvertible {
    case exists(path: String)
    /// In the system's words.
    case unwritable(path: String, reason: String)

    package var description: String {
        switch self {
        case .exists(let path): "There is a file \(path) already. Name another."
        case .unwritable(let path, let reason): "\(path) can't be written: \(reason)."
        }
    }
}
