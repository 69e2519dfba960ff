import Foundation
import SelfieClient

/// A record as a client sends it.
struct RecordContent: Sendable {
    /// What it is sent for.
    enum Action: Sendable {
        /// To create a record.
        case create
        /// To create or replace the record with the id.
        case put
        /// To change the record with the id by a merge patch.
        case patch
    }

    enum Expiry: Sendable {
        /// It was not sent.
        case unchanged
        case never
        case at(Date)
    }

    let action: Action
    /// Nil for an id of the service's.
    let id: String?
    /// The data, or a merge patch of it; nil if it does not change.
    let data: [String: JSONValue]?
    let readers: [String]?
    let writers: [String]?
    let expiry: Expiry

    private static let names: Set = ["id", "data", "readers", "writers", "expires_at"]
    /// Answers have them too, so a client may send them back.
    private static let ignoredNames: Set = ["collection", "owner", "version", "created_at", "updated_at", "photos"]
    private static let maxDepth = 16
    private static let maxReaders = 100

    /// Reads a record.
    ///
    /// - Parameters:
    ///   - action: What it is for.
    ///   - json: The record.
    ///   - id: The id in the path; nil if the record has it.
    /// - Throws: `ServiceRefusal`.
    init(_ action: Action, _ json: JSONValue, id: String?) throws(ServiceRefusal) {
        guard let members = json.members else { throw .recordMalformed("the body", "must be an object") }
        let unknown = members.keys.filter { !Self.names.union(Self.ignoredNames).contains($0) }.min()
        if let unknown {
            let name = Self.isPlain(unknown) ? unknown : "a member"
            guard members["data"] == nil else { throw .recordMalformed(name, "is unknown") }
            throw .recordMalformed(
                "data",
                "is missing, and \(name) is unknown: the record's fields belong in data"
            )
        }
        let ownID = members["id"]?.text
        if members["id"] != nil, ownID == nil { throw .recordMalformed("id", "must be a string") }
        if let id, let ownID, ownID != id { throw .recordMalformed("id", "differs from the path") }
        if action == .patch, id == nil, ownID == nil { throw .recordMalformed("id", "is missing") }
        (self.action, self.id) = (action, id ?? ownID)
        data = try Self.data(members["data"])
        if data == nil, action != .patch { throw .recordMalformed("data", "is missing") }
        readers = try Self.members("readers", members["readers"])
        writers = try Self.members("writers", members["writers"])
        switch members["expires_at"] {
        case nil: expiry = .unchanged
        case .null?: expiry = .never
        case let value?:
            guard let date = value.text.flatMap(JSONCoding.date) else {
                throw .recordMalformed("expires_at", "must be a time such as 2026-11-24T10:00:00Z, or null")
            }
            expiry = .at(date)
        }
    }

    /// Whether a name may stand in a message.
    private static func isPlain(_ name: String) -> Bool {
        name.range(of: #"\A[A-Za-z0-9_]{1,63}\z"#, options: .regularExpression) != nil
    }

    private static func data(_ value: JSONValue?) throws(ServiceRefusal) -> [String: JSONValue]? {
        guard let value else { return nil }
        guard value.depth <= maxDepth else { throw .recordMalformed("data", "is too deep") }
        guard let data = value.members else { throw .recordMalformed("data", "must be an object") }
        try RecordRules.checkSize(of: data)
        return data
    }

    private static func members(_ name: String, _ value: JSONValue?) throws(ServiceRefusal) -> [String]? {
        guard let value else { return nil }
        guard case .array(let elements) = value else { throw .recordMalformed(name, "must be an array") }
        // The owner may be among them.
        guard elements.count <= maxReaders + 1 else {
            throw .recordMalformed(name, "has more than \(maxReaders) members")
        }
        guard let ids = value.texts, ids.allSatisfy(ItemKey.isValid) else {
            throw .recordMalformed(name, "must be ids of members")
        }
        return ids
    }

    /// The data of a record after this.
    ///
    /// - Parameter old: The data until now.
    /// - Returns: The whole data.
    func data(after old: [String: JSONValue]) -> [String: JSONValue] {
        guard let data else { return old }
        return action == .patch ? JSONValue.object(old).merged(with: .object(data)).members ?? old : data
    }

    /// When the record expires, if it expired at `before` until now.
    func expiresAt(after before: Date?) -> Date? {
        switch expiry {
        case .unchanged: before
        case .never: nil
        case .at(let date): date
        }
    }
}

extension JSONValue {
    /// How many arrays and objects are in each other at most; 0 for other values.
    fileprivate var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        default: 0
        }
    }
}

/// What must hold, or the record is not changed.
enum RecordPrecondition: Sendable {
    case none
    case absent
    case exists
    case version(Int)

    /// Reads `If-Match` and `If-None-Match`.
    ///
    /// - Throws: `ServiceRefusal` if a tag is none.
    init(_ request: ServiceRequest) throws(ServiceRefusal) {
        if let text = request.headers["if-match"] {
            if text == "*" {
                self = .exists
                return
            }
            let tag = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
            guard tag.count > 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { throw .ifMatchInvalid }
            // Another text is the tag of no version.
            self = .version(Int(tag.dropFirst().dropLast()) ?? 0)
        } else {
            self = request.headers["if-none-match"] == "*" ? .absent : .none
        }
    }

    /// Requires that it holds for a record that is there.
    func check(_ version: Int) throws(ServiceRefusal) {
        switch self {
        case .none, .exists: return
        case .version(let wanted) where wanted == version: return
        case .absent, .version: throw .recordVersionDiffers
        }
    }
}
