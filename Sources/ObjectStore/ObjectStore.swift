package import FoundationEssentials
package import LinuxFiles
package import NIOCore
package import S3

/// A store of objects by key: a bucket or a folder.
package protocol ObjectStore: Sendable {
    /// Finds out what signed URLs need, such as the bucket's region, before a client is redirected to the store.
    ///
    /// - Throws: `ObjectStoreError`. The store can be used anyway, and finds it out from the first refusal.
    func prepare() async throws(ObjectStoreError)

    /// Computes the digests of an object if a put needs them.
    ///
    /// A gigabyte takes seconds. So it is done before something waits for the put.
    ///
    /// - Parameter object: The object.
    /// - Returns: The same object, for a put.
    /// - Throws: `ObjectStoreError` when the object can't be read.
    func hashed(_ object: SpooledObject) async throws(ObjectStoreError) -> SpooledObject

    /// Stores an object whole or not at all.
    ///
    /// - Parameters:
    ///   - object: The bytes, which may be read more than once.
    ///   - key: Names the object.
    ///   - contentType: The media type to serve it with.
    /// - Returns: The id of the version that was made; nil where the store keeps no old versions.
    /// - Throws: `ObjectStoreError`.
    @discardableResult
    func put(_ object: SpooledObject, key: String, contentType: String) async throws(ObjectStoreError) -> String?

    /// Deletes objects with all their versions. Missing ones are no error.
    ///
    /// - Parameter objects: At most a thousand.
    /// - Returns: The keys of which something is still there, each with the reason.
    /// - Throws: `ObjectStoreError` when the call as a whole failed.
    func delete(_ objects: [ObjectDeletion]) async throws(ObjectStoreError) -> [String: any Error]

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

    /// A URL with which a client gets an object from the store itself.
    ///
    /// - Parameters:
    ///   - key: Names the object, which need not exist.
    ///   - date: The present.
    ///   - end: The latest end of the URL.
    ///   - isHead: Whether the client will ask with HEAD. A URL that is signed for GET does not work for it.
    ///   - headers: The headers that the store must send instead of its own.
    /// - Returns: nil when clients can't reach the store.
    /// - Throws: `ObjectStoreError`.
    func publicURL(
        key: String,
        at date: Date,
        endingBy end: Date,
        isHead: Bool,
        answering headers: AnswerHeaders
    ) async throws(ObjectStoreError) -> PublicURL?

    /// Removes what a crash during a put left behind, if a frequent search for it is cheap.
    ///
    /// - Parameter date: Puts that began before this are left over.
    /// - Throws: `ObjectStoreError`.
    func removeLeftovers(from date: Date) async throws(ObjectStoreError)

    /// Goes through all objects in any order, with one page in memory at a time.
    ///
    /// - Parameter body: Takes a page, which is never empty.
    /// - Throws: `ObjectStoreError`, or what the body throws.
    func forEachPage(_ body: ([ObjectEntry]) async throws -> Void) async throws

    /// Goes through all unfinished puts, with one page in memory at a time.
    ///
    /// - Parameter body: Takes a page, which is never empty.
    /// - Throws: `ObjectStoreError`, or what the body throws.
    func forEachPageOfUnfinishedPuts(_ body: ([UnfinishedPut]) async throws -> Void) async throws

    /// Removes what an unfinished put stored. It is no error if there is nothing.
    ///
    /// - Parameter put: As it was listed.
    /// - Returns: Whether there was something.
    /// - Throws: `ObjectStoreError`.
    @discardableResult
    func abandon(_ put: UnfinishedPut) async throws(ObjectStoreError) -> Bool

    /// Goes through all versions that are not current, with one page in memory at a time.
    ///
    /// - Parameter body: Takes a page, which is never empty.
    /// - Throws: `ObjectStoreError`, or what the body throws.
    func forEachPageOfVersions(_ body: ([ObjectVersion]) async throws -> Void) async throws
}

extension ObjectStore {
    /// Deletes an object.
    ///
    /// A missing one is no error.
    ///
    /// - Parameter object: The object.
    /// - Throws: `ObjectStoreError`.
    package func delete(_ object: ObjectDeletion) async throws(ObjectStoreError) {
        if let failure = try await delete([object])[object.key] {
            throw failure as? ObjectStoreError ?? .refused(failure)
        }
    }
}

/// An object, or a part of one, that is ready to send.
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
        case .transfer(let next):
            while let chunk = try await next() { try await body(chunk) }
        }
    }
}

/// Where the bytes of an object come from.
package enum ObjectBytes: Sendable {
    /// A range of a file of this system.
    case file(PosixFile, Range<Int>)
    /// Waits for the next bytes of a transfer from another server; nil after the last.
    ///
    /// They come only as fast as they are asked for. The transfer ends when this is dropped.
    case transfer(@Sendable () async throws(ObjectStoreError) -> ByteBuffer?)
}

/// A URL to an object that expires.
package struct PublicURL: Sendable {
    package let url: String
    package let end: Date
}

/// Why a store could not do what it was asked to.
package enum ObjectStoreError: Error {
    /// The store can't be reached or has a fault.
    case unavailable(any Error)
    /// The store refused: credentials, permissions, configuration.
    case refused(any Error)
    /// No object can have this key.
    case invalidKey
}

extension ObjectStoreError: CustomStringConvertible {
    /// The same word for all errors of a kind, where descriptions have requests' ids.
    package var kind: String {
        switch self {
        case .unavailable: "unavailable"
        case .refused: "refused"
        case .invalidKey: "invalidKey"
        }
    }

    /// One line for a log.
    package var description: String {
        switch self {
        case .unavailable(let cause), .refused(let cause): "\(cause)"
        case .invalidKey: "no object can have this key"
        }
    }
}
