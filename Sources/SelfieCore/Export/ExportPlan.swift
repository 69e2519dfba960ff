import NIOCore
import ObjectStore
import SelfiePhotos

/// The photos that a user had when the export began.
///
/// They wait in a temporary file. So a photo that is deleted meanwhile is known, and memory does not grow.
struct ExportPlan {
    let count: Int
    private let object: SpooledObject

    /// A photo of the plan.
    struct Item {
        /// The row's id.
        let id: Int
        let randomID: String
    }

    /// How many rows are read with one statement.
    private static let pageCount = 250
    fileprivate static let chunkBytes = 32 * 1024

    /// - Parameters:
    ///   - userID: The user.
    ///   - photos: The photos.
    ///   - spools: For the temporary file.
    /// - Throws: `PostgresError`, what writing a file throws, or `TooBusy`.
    init(ofUser userID: Int, photos: PhotoStore, spools: SpoolBudget) async throws {
        var spool = Spool(spools, userID: userID)
        var (count, last) = (0, 0)
        while true {
            let page = try await photos.allPhotos(ofUser: userID, after: last, count: Self.pageCount)
            guard let end = page.last else { break }
            var bytes = ByteBuffer()
            for (id, randomID) in page {
                bytes.writeInteger(Int64(id))
                try bytes.writeLengthPrefixed(as: UInt16.self) { $0.writeString(randomID) }
            }
            try await spool.append(bytes)
            (count, last) = (count + page.count, end.id)
        }
        self.count = count
        object = try await spool.finish()
    }

    /// The photos, the oldest first.
    struct Iterator {
        fileprivate let object: SpooledObject
        private var position = 0
        private var bytes = ByteBuffer()

        fileprivate init(_ object: SpooledObject) {
            self.object = object
        }

        /// The next photo; nil after the last.
        ///
        /// - Throws: What reading the file throws.
        mutating func next() async throws -> Item? {
            while true {
                if let item = read() { return item }
                guard position < object.length else { return nil }
                let end = min(position + ExportPlan.chunkBytes, object.length)
                bytes.discardReadBytes()
                bytes.writeImmutableBuffer(try await object.bytes(in: position..<end))
                position = end
            }
        }

        /// The next photo; nil when not all of it is there.
        private mutating func read() -> Item? {
            var rest = bytes
            guard let id = rest.readInteger(as: Int64.self),
                let randomID = rest.readLengthPrefixedSlice(as: UInt16.self)
            else { return nil }
            bytes = rest
            return Item(id: Int(id), randomID: String(buffer: randomID))
        }
    }

    func makeIterator() -> Iterator { Iterator(object) }
}
