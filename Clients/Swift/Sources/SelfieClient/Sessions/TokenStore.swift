public import Foundation

/// Where a session is kept between starts of the app.
public protocol TokenStore: Sendable {
    /// Reads what was stored.
    ///
    /// - Returns: The stored bytes; nil if there are none.
    /// - Throws: ``SelfieError/storage(_:)`` if they can't be read now. The user stays signed in then.
    func read() throws -> Data?

    /// Replaces what is stored.
    ///
    /// - Throws: ``SelfieError/storage(_:)`` or ``SelfieError/diskFull``; what was there stays.
    func write(_ data: Data) throws

    /// Removes what is stored.
    ///
    /// - Throws: ``SelfieError/storage(_:)``.
    func remove() throws
}

/// Keeps a session in memory: it ends with the process.
public final class MemoryTokenStore: TokenStore {
    private let data = Locked<Data?>(nil)

    public init() {}

    public func read() -> Data? { data.withLock { $0 } }
    public func write(_ data: Data) { self.data.withLock { $0 = data } }
    public func remove() { data.withLock { $0 = nil } }
}

/// Keeps a session in a file that only its owner can read (mode 600).
public struct FileTokenStore: TokenStore {
    private let file: URL

    /// - Parameter file: The file. Its folder is made when a session is stored.
    public init(file: URL) { self.file = file }

    public func read() throws -> Data? {
        guard let mode = try? FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int else {
            return nil
        }
        guard mode & 0o077 == 0 else {
            throw SelfieError.storage("Others can read the file with the session. Make its mode 600.")
        }
        return try Disk.read(file)
    }

    public func write(_ data: Data) throws {
        try Disk().makeFolder(file.deletingLastPathComponent())
        try Disk().replace(file, with: data)
    }

    public func remove() throws { try Disk().remove(file) }
}
