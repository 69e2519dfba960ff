public import Foundation

/// A record as the service has it.
public struct Record<Fields: RecordFields>: Sendable, Identifiable {
    public let id: String
    /// The record's data.
    public var fields: Fields
    /// The member's id of who created it.
    public let owner: String
    /// Counts from 1; each change adds one.
    public let version: Int
    public let createdAt: Date
    public let updatedAt: Date
    /// When it goes by itself; nil if never.
    public let expiresAt: Date?
    /// The members who may read it; nil to who is not its owner.
    public let readers: [String]?
    /// The members who may change it; nil to who is not its owner.
    public let writers: [String]?
    private let links: [String: [String: PhotoLink]]
    /// The data as it was read.
    private let loaded: Fields

    /// The photo of a field of the type `photo`; nil if it has none, or the photo is gone.
    public func photo(_ field: String) -> PhotoLink? { links[field]?.values.first }

    /// The photos of a field of the type `photos`, by their ids, whose order is in ``fields``.
    public func photos(_ field: String) -> [String: PhotoLink] { links[field] ?? [:] }

    /// What was changed since the record was read, as a merge patch.
    ///
    /// Data that the type does not know is not in it, so it stays as it is.
    ///
    /// - Parameter writes: The data of later writes, which the record will have before the patch is applied. So what is
    ///   changed back is in the patch.
    /// - Returns: The patch.
    /// - Throws: `EncodingError`.
    func changes(behind writes: [JSONValue] = []) throws -> JSONValue {
        var before = try JSONValue(encoding: loaded)
        if !writes.isEmpty {
            let written = writes.reduce(before) { $0.applying(mergePatch: $1) }
            // Only what the type knows: others may have written more.
            let known = try? JSONCoding.decode(Fields.self, from: JSONCoding.encode(written))
            before = try known.map { try JSONValue(encoding: $0) } ?? before
        }
        return before.mergePatch(to: try JSONValue(encoding: fields))
    }

    /// Whether nothing but the URLs of its photos can be different.
    ///
    /// A record that was deleted and created again may have the same number, and so may one of a restored database.
    func isSameVersion(as other: Record) -> Bool {
        (version, createdAt, updatedAt) == (other.version, other.createdAt, other.updatedAt)
    }

    init(_ answer: RecordAnswer<Fields>, path: [String]) {
        (id, fields, loaded) = (answer.id, answer.data, answer.data)
        (owner, version) = (answer.owner, answer.version)
        (createdAt, updatedAt, expiresAt) = (answer.createdAt, answer.updatedAt, answer.expiresAt)
        (readers, writers) = (answer.readers, answer.writers)
        links = RecordPhotos(photos: answer.photos).links(path: path)
    }
}

extension Record: Equatable where Fields: Equatable {}
extension Record: Hashable where Fields: Hashable {}

/// A record as it is in an answer.
struct RecordAnswer<Fields: RecordFields>: Decodable {
    let id: String
    let data: Fields
    let owner: String
    let version: Int
    let createdAt: Date
    let updatedAt: Date
    let expiresAt: Date?
    let readers: [String]?
    let writers: [String]?
    let photos: [String: RecordPhotos.Field]?

    private enum CodingKeys: String, CodingKey {
        case id, data, owner, version, readers, writers, photos
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case expiresAt = "expires_at"
    }
}

/// The URLs of a record's photos, as they are in an answer.
struct RecordPhotos: Decodable {
    enum Field: Decodable {
        case one(URL)
        case several([String: URL])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let url = try? container.decode(URL.self) {
                self = .one(url)
            } else {
                self = .several(try container.decode([String: URL].self))
            }
        }
    }

    let photos: [String: Field]?

    /// Links by field and by the photo's id.
    ///
    /// - Parameter path: The segments of the record's path behind `api`, which renew the links.
    /// - Returns: Links by the photo's id, by field.
    func links(path: [String]) -> [String: [String: PhotoLink]] {
        Dictionary(
            uniqueKeysWithValues: (photos ?? [:]).map { field, value in
                let urls =
                    switch value {
                    case .one(let url): [url]
                    case .several(let urls): Array(urls.values)
                    }
                let links = urls.map { PhotoLink($0, .record(path: path, field: field)) }
                return (field, Dictionary(links.map { ($0.id, $0) }) { $1 })
            }
        )
    }
}
