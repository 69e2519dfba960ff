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

    /// The format by the leading bytes.
    ///
    /// - Returns: The format; nil when it is not known.
    /// - Throws: What reading the bytes throws.
    package func imageFormat() async throws -> ImageFormat? {
        let prefix = try await bytes(in: 0..<min(length, ImageFormat.prefixBytes))
        return ImageFormat(leadingBytes: prefix.readableBytesView)
    }
}
