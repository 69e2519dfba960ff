import Foundation
import SelfieClient

/// A photo that was uploaded.
struct StoredPhoto: Sendable {
    /// The `random_id`.
    let id: String
    let ownerID: String
    let title: String
    let name: String
    let bytes: Data
    let format: PhotoFormat
    let isListed: Bool
    let createdAt: Date
    /// Its place among all photos.
    let number: Int

    func json(url: String) -> JSONValue {
        let size = format.size(of: bytes)
        return [
            "name": .string(name), "title": .string(title), "image_url": .string(url), "random_id": .string(id),
            "created_at": JSONValue(createdAt), "byte_count": JSONValue(bytes.count),
            "content_type": .string(format.contentType), "width": JSONValue(size?.width),
            "height": JSONValue(size?.height),
        ]
    }
}

/// All photos, and the keys that they were uploaded with.
struct PhotoLibrary: Sendable {
    private struct Key: Hashable, Sendable {
        let ownerID: String
        let text: String
    }

    private var byID: [String: StoredPhoto] = [:]
    private var uploads: [Key: StoredPhoto] = [:]
    private var count = 0
    private static let idLength = 41

    var all: [StoredPhoto] { Array(byID.values) }

    subscript(id: String) -> StoredPhoto? { byID[id] }

    /// The photos in a user's list, the oldest first.
    func list(of userID: String) -> [StoredPhoto] {
        byID.values.filter { $0.ownerID == userID && $0.isListed }.sorted { $0.number < $1.number }
    }

    /// The photo that was uploaded with a key before.
    ///
    /// - Throws: `ServiceRefusal` if it was another one, or is deleted.
    func earlier(_ key: String?, _ ownerID: String, title: String, bytes: Data, isListed: Bool) throws(ServiceRefusal)
        -> StoredPhoto?
    {
        guard let key, let photo = uploads[Key(ownerID: ownerID, text: key)] else { return nil }
        guard photo.title == title, photo.bytes == bytes, photo.isListed == isListed else {
            throw ServiceRefusal(
                status: 422,
                code: "idempotency_key_reused",
                message: "The Idempotency-Key was used for another upload"
            )
        }
        guard byID[photo.id] != nil else {
            throw ServiceRefusal(
                status: 410,
                code: "upload_deleted",
                message: "The photo of this Idempotency-Key was deleted"
            )
        }
        return photo
    }

    /// Adds a photo.
    mutating func add(
        _ file: MultipartForm.File,
        _ format: PhotoFormat,
        title: String,
        isListed: Bool,
        of ownerID: String,
        key: String?,
        at now: Date
    ) -> StoredPhoto {
        count += 1
        let photo = StoredPhoto(
            id: RandomText.make(Self.idLength),
            ownerID: ownerID,
            title: title,
            name: String(file.name.split(whereSeparator: { "/\\".contains($0) }).last ?? ""),
            bytes: file.bytes,
            format: format,
            isListed: isListed,
            createdAt: now,
            number: count
        )
        byID[photo.id] = photo
        if let key { uploads[Key(ownerID: ownerID, text: key)] = photo }
        return photo
    }

    mutating func remove(_ id: String) { byID[id] = nil }
}
