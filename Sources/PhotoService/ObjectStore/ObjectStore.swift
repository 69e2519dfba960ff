import FoundationEssentials
import NIOCore

/// Where photos' bytes are kept, by their photo's `random_id`.
protocol ObjectStore: Sendable {
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

    /// How a client gets an object.
    ///
    /// - Parameters:
    ///   - key: Names the object.
    ///   - secondsMax: For how long a client may fetch it at most.
    ///   - date: From when on.
    /// - Returns: nil when there is no such object.
    /// - Throws: `ObjectStoreError`.
    func delivery(key: String, secondsMax: Int, from date: Date) async throws(ObjectStoreError) -> ObjectDelivery?

    /// Removes what a crash in the middle of a put left behind.
    ///
    /// - Parameter date: What was begun before is left over.
    /// - Throws: `ObjectStoreError`.
    func removeLeftovers(from date: Date) async throws(ObjectStoreError)
}

extension ObjectStore {
    /// Deletes an object; that there is none is success.
    ///
    /// - Parameter key: Names the object.
    /// - Throws: `ObjectStoreError`.
    func delete(key: String) async throws(ObjectStoreError) {
        if let failure = try await delete(keys: [key])[key] { throw .refused(failure) }
    }
}

/// How a client gets an object's bytes.
enum ObjectDelivery: Sendable {
    /// From this URL, which works for `seconds`.
    case redirect(url: String, seconds: Int)
    /// From this service.
    case file(ObjectFile)
}

/// Why a store could not do what it was asked to.
enum ObjectStoreError: Error {
    /// The store can't be reached, or is out of order.
    case unavailable(any Error)
    /// The store refused: credentials, permissions, configuration.
    case refused(any Error)
    /// No object can have this key.
    case invalidKey
}
