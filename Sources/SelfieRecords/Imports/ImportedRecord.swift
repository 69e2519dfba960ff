import FoundationEssentials
import JSON
import OrderedCollections
import RecordSchema

/// A record of an import, as a line of its file has it.
package struct ImportedRecord: Sendable {
    let id: String
    let collection: String
    /// A JSON object.
    let data: JSONValue
    /// The e-mail address or the member's id of its owner; in an inbox, of who sent it.
    let owner: String
    /// The same of the member in whose inbox it is; nil for other records.
    let recipient: String?
    /// The same of its readers and writers.
    let readers: [String]
    let writers: [String]
    /// When it was created and changed; nil for now.
    let createdAt: Timestamp?
    let updatedAt: Timestamp?
    let expiresAt: Timestamp?

    /// The most bytes of a line.
    package static let maxLineBytes = 1 << 20
    private static let keys = [
        "id", "collection", "data", "owner", "recipient", "readers", "writers", "created_at", "updated_at",
        "expires_at",
    ]

    /// A line that is no record.
    package struct Malformed: Error, Equatable {
        /// What is wrong with it, such as `owner is missing`.
        package let reason: String
    }

    /// - Parameters:
    ///   - line: A JSON object.
    ///   - collection: The collection of lines that name none; nil where each must.
    /// - Throws: ``Malformed``.
    package init(_ line: some Collection<UInt8>, collection: String?) throws(Malformed) {
        guard case .object(let members)? = try? JSONValue.parse(line) else {
            throw Malformed(reason: "is no JSON object")
        }
        for name in members.keys where !Self.keys.contains(name) { throw Malformed(reason: "\(name) is unknown") }
        func text(_ name: String) throws(Malformed) -> String? {
            switch members[name] {
            case nil, .null: return nil
            case .string(let text) where !text.utf8.contains(0): return text
            default: throw Malformed(reason: "\(name) must be a text")
            }
        }
        func required(_ name: String, _ value: String?) throws(Malformed) -> String {
            guard let value else { throw Malformed(reason: "\(name) is missing") }
            return value
        }
        func names(_ name: String) throws(Malformed) -> [String] {
            guard let value = members[name], value != .null else { return [] }
            guard case .array(let values) = value, values.count <= RecordLimits.maxReaderCount else {
                throw Malformed(reason: "\(name) must be an array of at most \(RecordLimits.maxReaderCount) members")
            }
            var names: [String] = []
            for value in values {
                guard case .string(let text) = value, !text.utf8.contains(0) else {
                    throw Malformed(reason: "\(name) must be an array of texts")
                }
                names.append(text)
            }
            return names
        }
        func time(_ name: String) throws(Malformed) -> Timestamp? {
            guard let text = try text(name) else { return nil }
            guard let time = Timestamp(text) else {
                throw Malformed(reason: "\(name) must be a time such as 2026-11-24T10:00:00Z")
            }
            return time
        }
        id = try required("id", try text("id"))
        guard RecordID.canBeNew(id) else {
            let characters = "A-Z a-z 0-9 . _ : ~ @ -"
            throw Malformed(reason: "id has 1 to \(RecordLimits.maxIDLength) of \(characters), and is neither . nor ..")
        }
        self.collection = try required("collection", try text("collection") ?? collection)
        guard let data = members["data"] else { throw Malformed(reason: "data is missing") }
        self.data = data
        owner = try required("owner", try text("owner"))
        recipient = try text("recipient")
        (readers, writers) = (try names("readers"), try names("writers"))
        (createdAt, updatedAt, expiresAt) = (try time("created_at"), try time("updated_at"), try time("expires_at"))
    }

    /// All members that it names.
    var members: [String] { [owner] + [recipient].compactMap(\.self) + readers + writers }
}
