public import Foundation

/// What waits to be sent.
public struct OutboxItem: Sendable, Hashable, Identifiable {
    /// What is sent.
    public enum Content: Sendable, Hashable {
        case upload(title: String)
        /// A record to be created or replaced. `fields` are its data, see ``fields(as:)``.
        case save(collection: String, id: String, fields: JSONValue)
        /// Fields of a record to be changed: those to set, and those to remove as ``JSONValue/null``.
        case update(collection: String, id: String, changes: JSONValue)
        case delete(collection: String, id: String)
    }

    /// What becomes of it.
    public enum State: Sendable, Hashable {
        /// It waits for its turn, for the network, or for what it refers to.
        ///
        /// `lastError` says why it was not sent yet. If what it refers to was refused, it says why.
        case waiting(lastError: SelfieError?)
        /// It is being sent. Uploads have a progress.
        case sending(UploadProgress?)
        /// The service, or the device, refuses it for good. ``Outbox/retry(_:)`` or ``Outbox/drop(_:)`` it.
        case refused(SelfieError)
    }

    public let id: UUID
    public let content: Content
    public let createdAt: Date
    public let state: State

    /// The data of a record to save; nil if it is of another collection.
    public func fields<Fields: RecordFields>(as type: Fields.Type = Fields.self) -> Fields? {
        guard case .save(Fields.collection, _, let fields) = content else { return nil }
        return try? JSONCoding.decode(type, from: JSONCoding.encode(fields))
    }
}

/// What was sent.
public struct OutboxResult: Sendable, Hashable {
    public let id: OutboxItem.ID
    /// The photo, if this was an upload.
    public let photo: Photo?
}

/// An item as it is stored.
struct StoredItem: Sendable, Hashable, Codable {
    enum Content: Sendable, Hashable, Codable {
        /// The body is in a file of its own.
        case upload(UploadFile, byteCount: Int)
        case write(RecordWrite)
    }

    let id: UUID
    let createdAt: Date
    let content: Content
    /// Items that the app wants to be done before.
    var after: [UUID] = []
    /// Fields of the record that get the ids of photos, whose uploads are items, too.
    var photos: [String: UUID] = [:]

    /// Items with the same key are sent one after the other.
    var key: [String] {
        switch content {
        case .upload: [id.uuidString]
        case .write(let write): write.path
        }
    }

    /// Items that must be done before.
    var dependencies: [UUID] { photos.isEmpty ? after : after + photos.values }

    /// The bytes that it takes on the disk.
    var byteCount: Int {
        switch content {
        case .upload(_, let byteCount): byteCount
        // The body has 64 KiB at most, and stands in the log.
        case .write: 64 << 10
        }
    }

    var publicContent: OutboxItem.Content {
        switch content {
        case .upload(let upload, _): return .upload(title: upload.title)
        case .write(let write):
            let (collection, id) = (write.path.dropLast().last ?? "", write.path.last ?? "")
            let data = write.body?["data"] ?? .null
            return switch write.kind {
            case .put: .save(collection: collection, id: id, fields: data)
            case .patch: .update(collection: collection, id: id, changes: data)
            case .delete: .delete(collection: collection, id: id)
            }
        }
    }
}

/// A record as it was after an item was sent.
struct SentRecord: Sendable, Decodable {
    let version: Int
    let data: JSONValue
}

/// A line of the outbox's log: what has happened to an item.
enum OutboxEvent: Sendable, Hashable, Codable {
    case added(StoredItem)
    /// It was sent; an upload has the photo's id.
    case done(UUID, photoID: String?)
    case refused(UUID, SelfieError)
    case retried(UUID)
    case dropped(UUID)
}
