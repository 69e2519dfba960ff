import Foundation
import SelfieClient

/// What a client wants to do with a record.
struct RecordOperation: Sendable {
    enum Action: Sendable {
        case create
        /// Create or replace the record with the id.
        case put
        /// Change the record with the id by a merge patch.
        case patch
        case delete
    }

    enum Expiry: Sendable {
        /// It was not sent.
        case unchanged
        case never
        case at(Date)
    }

    let action: Action
    let id: String
    /// Its position in an array; nil if the call has one record alone.
    let position: Int?
    /// The data, or a merge patch of it; nil if it does not change.
    let data: [String: JSONValue]?
    let readers: [String]?
    let writers: [String]?
    let expiry: Expiry
    let precondition: RecordPrecondition

    private static let names: Set = ["id", "data", "readers", "writers", "expires_at"]
    /// Answers have them too, so a client may send them back.
    private static let ignoredNames: Set = ["collection", "owner", "version", "created_at", "updated_at", "photos"]
    private static let maxDepth = 16
    static let maxReaderCount = 100
    /// The most records of a call that changes them.
    static let maxCount = 100

    private static let idLength = 22

    /// Reads a record as a client sends it.
    ///
    /// - Parameters:
    ///   - action: What it is for, other than a deletion.
    ///   - json: The record.
    ///   - id: The id in the path; nil if the record has it.
    ///   - position: Its position in an array; nil if the call has one record alone.
    ///   - precondition: What must hold.
    /// - Throws: `ServiceRefusal`.
    init(
        _ action: Action,
        _ json: JSONValue,
        id: String? = nil,
        at position: Int? = nil,
        _ precondition: RecordPrecondition = .none
    ) throws(ServiceRefusal) {
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
        self.id = id ?? ownID ?? RandomText.make(Self.idLength)
        (self.action, self.position, self.precondition) = (action, position, precondition)
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

    /// Deletes a record.
    init(deleting id: String, at position: Int? = nil, _ precondition: RecordPrecondition = .none) {
        (action, self.id, self.position, self.precondition) = (.delete, id, position, precondition)
        (data, readers, writers, expiry) = (nil, nil, nil, .unchanged)
    }

    /// Reads the records of an array.
    ///
    /// - Throws: `ServiceRefusal` that says which of them it is about.
    static func array(_ action: Action, _ elements: [JSONValue]) throws(ServiceRefusal) -> [RecordOperation] {
        guard elements.count <= maxCount else {
            let message = "A call takes at most \(maxCount) records"
            throw ServiceRefusal(status: 400, code: "too_many_records", message: message)
        }
        var operations: [RecordOperation] = []
        for (position, element) in elements.enumerated() {
            do throws(ServiceRefusal) {
                operations.append(try RecordOperation(action, element, at: position))
            } catch {
                throw error.ofRecord(at: position)
            }
        }
        return operations
    }

    /// Whether it names readers or writers.
    var namesMembers: Bool { readers != nil || writers != nil }

    /// Whether a name may stand in a message.
    private static func isPlain(_ name: String) -> Bool {
        name.range(of: #"\A[A-Za-z0-9_]{1,63}\z"#, options: .regularExpression) != nil
    }

    private static func data(_ value: JSONValue?) throws(ServiceRefusal) -> [String: JSONValue]? {
        guard let value else { return nil }
        guard value.depth <= maxDepth else { throw .recordMalformed("data", "is too deep") }
        guard let data = value.members else { throw .recordMalformed("data", "must be an object") }
        guard RecordRules.fits(data) else { throw .recordTooLarge }
        return data
    }

    private static func members(_ name: String, _ value: JSONValue?) throws(ServiceRefusal) -> [String]? {
        guard let value else { return nil }
        guard case .array(let elements) = value else { throw .recordMalformed(name, "must be an array") }
        // The owner may be among them.
        guard elements.count <= maxReaderCount + 1 else {
            throw .recordMalformed(name, "has more than \(maxReaderCount) members")
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
        return action == .patch ? JSONValue.object(old).applying(mergePatch: .object(data)).members ?? old : data
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
