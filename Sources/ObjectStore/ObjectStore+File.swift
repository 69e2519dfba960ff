package import LinuxFiles
import NIOCore
import NIOPosix

extension ObjectStore {
    /// An object as an open file: that of a folder, or a temporary copy of a bucket's object without a name.
    ///
    /// - Parameters:
    ///   - key: Names the object.
    ///   - maxBytes: How many bytes are copied at most. A longer object is cut off.
    /// - Returns: nil when there is no such object.
    /// - Throws: `ObjectStoreError`, `PosixFileError`.
    package func file(key: String, maxBytes: Int) async throws -> PosixFile? {
        guard let object = try await open(key: key, range: nil) else { return nil }
        switch object.bytes {
        case .file(let file, _): return file
        case .transfer(let next):
            let file = try await NIOThreadPool.singleton.runIfActive { try PosixFile.makeTemporary() }
            var byteCount = 0
            while byteCount < maxBytes, let chunk = try await next() {
                byteCount += chunk.readableBytes
                try await NIOThreadPool.singleton.runIfActive {
                    try chunk.withUnsafeReadableBytes { try file.write($0) }
                }
            }
            return file
        }
    }
}
