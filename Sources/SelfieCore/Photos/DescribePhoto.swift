package import Logging
import NIOCore
import ObjectStore

/// Learns the type and the length of a photo that railsauth stored, from its object.
package struct DescribePhoto: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore

    /// Completes a photo's facts, and keeps them, so that this is done once.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - isKept: Whether the facts are kept.
    ///   - logger: The request's.
    /// - Returns: The photo with all facts; nil when its object is missing.
    /// - Throws: `ObjectStoreError`, or what reading a file throws.
    package func callAsFunction(_ photo: ServedPhoto, isKept: Bool, logger: Logger) async throws -> ServedPhoto? {
        guard let length = try await objects.length(key: photo.randomID) else { return nil }
        var bytes = ByteBuffer()
        if length > 0 {
            let range = 0..<min(length, PhotoFormat.prefixBytes)
            guard let object = try await objects.open(key: photo.randomID, range: range) else { return nil }
            try await object.bytes.forEachChunk { bytes.writeImmutableBuffer($0) }
        }
        let format = PhotoFormat(leadingBytes: bytes.readableBytesView)
        let described = photo.with(
            contentType: format?.contentType ?? PhotoFormat.unknownContentType,
            byteCount: photo.byteCount ?? length
        )
        if isKept {
            do {
                try await photos.keepDetails(of: described)
            } catch {
                // The next request tries again.
                logger.warning("a photo's type could not be noted", metadata: ["error": "\(error)"])
            }
        }
        return described
    }
}
