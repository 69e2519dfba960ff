import Concurrency
package import ImageFiles
import NIOCore
package import ObjectStore

extension SpooledObject {
    /// Reads the upload's structure as far as the photo's size, and looks for the photo's end.
    ///
    /// - Returns: The photo; nil when it is none, or is cut off.
    /// - Throws: What reading the bytes throws.
    func image() async throws -> ImageFile? {
        // Of a photo in memory, all may be read without a wait.
        try await offEventLoop {
            try await ImageFile.read(length: length, mustBeWhole: true) { range in
                try await Array(bytes(in: range).readableBytesView)
            }
        }
    }

    /// The upload without what tells of its maker.
    ///
    /// - Returns: What is to be stored; nil when the photo breaks its format.
    /// - Throws: What reading the bytes throws.
    func withoutMetadata() async throws -> SpooledObject? {
        try await offEventLoop {
            let stripped = try await StrippedImage.read(length: length) { range in
                try await Array(bytes(in: range).readableBytesView)
            }
            guard let stripped else { return nil }
            return rewritten(
                as: stripped.pieces.map { piece in
                    switch piece {
                    case .file(let range): .received(range)
                    case .bytes(let bytes): .bytes(bytes)
                    case .zeros(let count): .zeros(count)
                    }
                }
            )
        }
    }

    /// The format by the leading bytes.
    ///
    /// - Returns: The format; nil when it is not known.
    /// - Throws: What reading the bytes throws.
    package func imageFormat() async throws -> ImageFormat? {
        let prefix = try await bytes(in: 0..<min(length, ImageFormat.prefixBytes))
        return ImageFormat(leadingBytes: prefix.readableBytesView)
    }
}
