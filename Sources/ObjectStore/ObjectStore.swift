package import FoundationEssentials
package import LinuxFiles
package import NIOCore

/// Where photos' bytes are kept, by their photo's `random_id`.
package protocol ObjectStore: Sendable {
    /// Finds out what must be known of the store before the first client is sent there.
    ///
    /// - Throws: `ObjectStoreError`; what was not found out now is found out from refusals.
    func prepare() async throws(ObjectStoreError)

    /// Stores an object whole or not at all.
    ///
    /// - Parameters:
    ///   - object: The bytes, which may be read more than once.
    ///   - key: Names the object.
    ///   - contentType: The media type to serve it with.
    /// - Throws: `ObjectStoreError`.
    func put(_ object: SpooledObject, key: String, contentType: String) async throws(ObjectStoreError)

    /// Deletes objects; that there are none is success.
    ///
    /// - Parameter keys: Name the objects, at most a thousand.
    /// - Returns: The keys whose objects are still there, each with the reason.
    /// - Throws: `ObjectStoreError` when nothing is known of any.
    func delete(keys: [String]) async throws(ObjectStoreError) -> [String: any Error]

    /// How many bytes an object has, without opening a transfer of them.
    ///
    /// - Parameter key: Names the object.
    /// - Returns: nil when there is no such object.
    /// - Throws: `ObjectStoreError`.
    func length(key: String) async throws(ObjectStoreError) -> Int?

    /// Opens an object, or a part of it, to be read once.
    ///
    /// - Parameters:
    ///   - key: Names the object.
    ///   - range: Which bytes, at least one, and none beyond the object's end; nil for all.
    /// - Returns: nil when there is no such object.
    /// - Throws: `ObjectStoreError`.
    func open(key: String, range: Range<Int>?) async throws(ObjectStoreError) -> OpenObject?

    /// A URL under which a client gets an object from the store itself.
    ///
    /// - Parameters:
    ///   - key: Names the object, which need not exist.
    ///   - date: The present.
    ///   - end: When the URL must have ended.
    ///   - isHead: Whether the client will ask with HEAD, for which a URL that is signed for GET is no good.
    ///   - label: What the store is to call the object; nil for what it knows itself.
    /// - Returns: nil when clients can't reach the store.
    /// - Throws: `ObjectStoreError`.
    func publicURL(
        key: String,
        at date: Date,
        endingBy end: Date,
        isHead: Bool,
        label: PublicLabel?
    ) async throws(ObjectStoreError) -> PublicURL?

    /// Removes what a crash in the middle of a put left behind, as far as it is cheap to look for often.
    ///
    /// - Parameter date: What was begun before is left over.
    /// - Throws: `ObjectStoreError`.
    func removeLeftovers(from date: Date) async throws(ObjectStoreError)

    /// Goes through all objects, in no order, with a page of them in memory at a time.
    ///
    /// - Parameter body: Takes a page, which is never empty.
    /// - Throws: `ObjectStoreError`, or what the body throws.
    func forEachPage(_ body: ([ObjectEntry]) async throws -> Void) async throws

    /// Goes through the puts that were begun and not finished, with a page of them in memory at a time.
    ///
    /// - Parameter body: Takes a page, which is never empty.
    /// - Throws: `ObjectStoreError`, or what the body throws.
    func forEachPageOfUnfinishedPuts(_ body: ([UnfinishedPut]) async throws -> Void) async throws

    /// Removes what is there of a put that was not finished; that there is nothing is success.
    ///
    /// - Parameter put: As it was listed.
    /// - Throws: `ObjectStoreError`.
    func abandon(_ put: UnfinishedPut) async throws(ObjectStoreError)
}

/// What a store says of an object when it lists them.
package struct ObjectEntry: Sendable {
    package let key: String
    package let length: Int
    package let modified: Date
}

/// A put that may still go on, or was left behind by a crash.
package struct UnfinishedPut: Sendable {
    /// The object that it would become; on disk, where the file says nothing of it, the file's name.
    package let key: String
    /// Tells it from others of the same key.
    let id: String
    package let begun: Date
}

extension ObjectStore {
    /// Deletes an object; that there is none is success.
    ///
    /// - Parameter key: Names the object.
    /// - Throws: `ObjectStoreError`.
    package func delete(key: String) async throws(ObjectStoreError) {
        if let failure = try await delete(keys: [key])[key] { throw .refused(failure) }
    }
}

/// An object, or a part of it, that is ready to be sent.
package struct OpenObject: Sendable {
    /// How many bytes the whole object has.
    package let length: Int
    package let bytes: ObjectBytes
}

extension ObjectBytes {
    /// How much of a file is read at a time.
    private static let chunkBytes = 128 * 1024

    /// Reads the bytes.
    ///
    /// - Parameter body: Takes some of them, in order.
    /// - Throws: `ObjectStoreError`, what reading a file throws, or what the body throws.
    package func forEachChunk(_ body: (ByteBuffer) async throws -> Void) async throws {
        switch self {
        case .file(let file, let range):
            for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.chunkBytes) {
                try await body(file.bytes(in: start..<min(start + Self.chunkBytes, range.upperBound)))
            }
        case .transfer(let transfer):
            while let chunk = try await transfer.next() { try await body(chunk) }
        }
    }
}

/// Bytes of an object, from where they are.
package enum ObjectBytes: Sendable {
    /// A range of a file of this system.
    case file(PosixFile, Range<Int>)
    /// A transfer from elsewhere, which ends when it is dropped.
    case transfer(any ObjectTransfer)
}

/// Bytes that come from elsewhere, only as fast as they are asked for.
package protocol ObjectTransfer: Sendable {
    /// Waits for the next bytes.
    ///
    /// - Returns: Some bytes; nil after the last.
    /// - Throws: `ObjectStoreError` when they can't all be had.
    func next() async throws(ObjectStoreError) -> ByteBuffer?
}

/// What is said of an object that a client fetches from the store itself.
package struct PublicLabel: Sendable, Hashable {
    let contentType: String
    /// As in RFC 6266.
    let contentDisposition: String

    /// - Parameters:
    ///   - contentType: The media type to serve it with.
    ///   - contentDisposition: As in RFC 6266.
    package init(contentType: String, contentDisposition: String) {
        self.contentType = contentType
        self.contentDisposition = contentDisposition
    }
}

/// A URL to an object that ends by itself.
package struct PublicURL: Sendable {
    package let url: String
    package let end: Date
}

/// Why a store could not do what it was asked to.
package enum ObjectStoreError: Error {
    /// The store can't be reached, or is out of order.
    case unavailable(any Error)
    /// The store refused: credentials, permissions, configuration.
    case refused(any Error)
    /// No object can have this key.
    case invalidKey
}

extension ObjectStoreError: CustomStringConvertible {
    /// One line for a log.
    package var description: String {
        switch self {
        case .unavailable(let cause), .refused(let cause): "\(cause)"
        case .invalidKey: "no object can have this key"
        }
    }
}
