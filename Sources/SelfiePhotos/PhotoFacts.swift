import ImageFiles
import NIOCore
import ObjectStore

/// The facts of a photo that its object contains.
struct PhotoFacts {
    let contentType: String
    let byteCount: Int
    /// Nil when it can't be read from the object.
    let size: ImageSize?

    init(contentType: String, byteCount: Int, size: ImageSize?) {
        (self.contentType, self.byteCount, self.size) = (contentType, byteCount, size)
    }

    /// Reads the beginning of an object that may be no photo, or not a whole one, since railsauth accepted every file.
    ///
    /// Nil when there is no such object.
    ///
    /// - Parameters:
    ///   - key: Names the object.
    ///   - objects: The store.
    /// - Throws: `ObjectStoreError`, or what reading a file throws.
    init?(of key: String, in objects: any ObjectStore) async throws {
        guard let length = try await objects.length(key: key) else { return nil }
        byteCount = length
        do {
            let read = { (range: Range<Int>) in try await objects.bytes(range, of: key) }
            let image = try await ImageFile.read(length: length, windowBytes: Self.windowBytes, read)
            size = image?.size
            var format = image?.format
            if format == nil, length > 0 {
                format = ImageFormat(leadingBytes: try await read(0..<min(length, ImageFormat.prefixBytes)))
            }
            contentType = format?.contentType ?? ServedPhoto.unknownContentType
        } catch is MissingObject {
            return nil
        }
    }

    /// How much is read at a time: with most photos, one request to the store is enough.
    private static let windowBytes = 64 * 1024
}

extension ObjectStore {
    fileprivate func bytes(_ range: Range<Int>, of key: String) async throws -> [UInt8] {
        guard let object = try await open(key: key, range: range) else { throw MissingObject() }
        var bytes: [UInt8] = []
        try await object.bytes.forEachChunk { bytes += $0.readableBytesView }
        return bytes
    }
}

/// The object was deleted meanwhile.
private struct MissingObject: Error {}
