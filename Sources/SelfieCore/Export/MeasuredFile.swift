import Cryptography
import Encodings
import NIOCore
import ObjectStore
import ZipArchive

/// A file for an archive, whose bytes are all there.
struct MeasuredFile {
    let object: SpooledObject
    let crc32: UInt32
    /// Lower-case digits.
    let sha256: String
}

/// Takes a file's bytes, and computes what an archive says of them in front of them.
struct MeasuredSpool: ~Copyable {
    private var spool: Spool
    private var crc32 = CRC32()
    private var sha256 = SHA256()

    init(_ spools: SpoolBudget, userID: Int) {
        spool = Spool(spools, userID: userID)
    }

    mutating func append(_ bytes: ByteBuffer) async throws {
        bytes.withUnsafeReadableBytes {
            crc32.update($0)
            sha256.update($0)
        }
        try await spool.append(bytes)
    }

    mutating func append(_ text: String) async throws {
        try await append(ByteBuffer(string: text))
    }

    consuming func finish() async throws -> MeasuredFile {
        let object = try await spool.finish()
        return MeasuredFile(object: object, crc32: crc32.value, sha256: sha256.finalize().hexadecimal)
    }
}
