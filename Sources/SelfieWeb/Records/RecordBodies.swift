import Budgets
import Encodings
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import OrderedCollections
import RecordSchema
import SelfieAccounts
import SelfieRecords

/// Reads what clients want to do with records.
struct RecordBodies: Sendable {
    private let memory: Permits<Int>

    /// The most bytes of one record as it is sent.
    ///
    /// Clients that escape all letters beyond ASCII make three times as many bytes of Cyrillic or Greek.
    static let maxRecordBytes = 4 * RecordLimits.maxBytes
    /// The most bytes of a body with many records.
    static let maxBytes = 8 << 20

    /// About the most bytes of an answer with one record, with its readers and the URLs of its photos.
    static let maxRecordAnswerBytes = RecordLimits.maxBytes + (16 << 10)

    /// About what a page of some records takes while it is made.
    static func pageBytes(_ count: Int) -> Int { min(AnswerMemory.maxPageBytes, count * maxRecordAnswerBytes) }

    /// - Parameter memory: The bytes that they take; the holders are users.
    init(memory: Permits<Int>) {
        self.memory = memory
    }

    /// A body's elements, one after another.
    struct Elements {
        /// Whether the body is an array.
        let areMany: Bool
        fileprivate let texts: [ArraySlice<UInt8>]
        /// Released when the last of it is dropped.
        fileprivate let permit: Permit<Int>

        /// About the most bytes of an answer with these records, and with what a small record has beside what was sent.
        var answerBytes: Int {
            texts.reduce(0) { $0 + min($1.count + (4 << 10), RecordBodies.maxRecordAnswerBytes) }
        }

        /// Reads the elements, each by itself, so that only one at a time takes more memory than its text.
        ///
        /// Others have their turns on the thread in between.
        func map<Result>(_ transform: (JSONValue) throws -> Result) async throws -> [Result] {
            var results: [Result] = []
            for (position, text) in texts.enumerated() {
                if position > 0 { await Task.yield() }
                guard text.count <= RecordBodies.maxRecordBytes else {
                    throw ServiceError.bodyTooLarge(maxBytes: RecordBodies.maxRecordBytes)
                }
                let value: JSONValue
                do throws(JSONError) { value = try JSONValue.parse(text) } catch { throw ServiceError(error) }
                do {
                    results.append(try transform(value))
                } catch let error as RecordBodyError {
                    throw areMany ? error.at(position).refusal : error.refusal
                } catch let refusal as RecordRefusal {
                    throw ServiceError(areMany ? RecordRefusal(refusal.reason, at: position) : refusal)
                }
            }
            return results
        }
    }

    /// Reads one record, or an array of them.
    ///
    /// - Parameters:
    ///   - request: The request. Its body is consumed.
    ///   - context: Its context.
    ///   - takesMany: Whether it may be an array, of at most ``RecordLimits/maxBatchCount``.
    /// - Returns: The elements.
    /// - Throws: `ServiceError`, `TooBusy`, or what the connection throws.
    func read(
        _ request: Request,
        _ context: SessionRequestContext,
        takesMany: Bool
    ) async throws -> Elements {
        guard MediaType.isJSON(request.head) else { throw ServiceError.jsonRequired }
        let maxBytes = takesMany ? Self.maxBytes : Self.maxRecordBytes
        let permit = memory.none(for: context.session.userID)
        // They are found as the bytes come, since all at once would take long.
        var (collected, elements) = ([UInt8](), JSONElements(maxCount: RecordLimits.maxBatchCount))
        for try await chunk in try request.wantedBody(maxBytes: maxBytes, context: context) {
            guard collected.count + chunk.readableBytes <= maxBytes else {
                throw ServiceError.bodyTooLarge(maxBytes: maxBytes)
            }
            try permit.grow(by: chunk.readableBytes)
            if takesMany { elements.push(chunk.readableBytesUInt8Span) }
            collected.append(contentsOf: chunk.readableBytesView)
        }
        guard takesMany, let texts = elements.elements(of: collected) else {
            return Elements(areMany: false, texts: [collected[...]], permit: permit)
        }
        guard texts.count <= RecordLimits.maxBatchCount else { throw ServiceError.tooManyRecords }
        return Elements(areMany: true, texts: texts, permit: permit)
    }
}

extension RecordOperation {
    /// The members of a body, and those that it may have because answers have them.
    private static let members: Set = ["id", "data", "readers", "writers", "expires_at"]
    private static let ignoredMembers: Set = ["collection", "owner", "version", "created_at", "updated_at", "photos"]

    /// Reads one element of a body.
    ///
    /// - Parameters:
    ///   - action: What it is for.
    ///   - value: The element.
    ///   - id: The id of the path; nil when the element has it.
    ///   - condition: What must be true of the record.
    /// - Throws: `RecordBodyError`, `RecordRefusal` for data that is too large, or has texts that are slow to compare.
    init(
        _ action: Action,
        _ value: JSONValue,
        id: String?,
        condition: Condition
    ) throws {
        guard case .object(let body) = value else { throw RecordBodyError("the body", "must be an object") }
        if let unknown = body.keys.first(where: { !Self.members.union(Self.ignoredMembers).contains($0) }) {
            let name = unknown.isPlainName ? unknown : "a member"
            guard body["data"] == nil else { throw RecordBodyError(name, "is unknown") }
            throw RecordBodyError(
                "data",
                "is missing, and \(name) is unknown: the record's fields belong in data"
            )
        }
        let ownID = try Self.text(body["id"], "id")
        if let id, let ownID, ownID != id { throw RecordBodyError("id", "differs from the path") }
        if action == .patch, id == nil, ownID == nil { throw RecordBodyError("id", "is missing") }
        var data: String?
        if let value = body["data"] {
            // Deeper values are not written, which would take as many calls in each other.
            guard value.depth <= RecordLimits.maxDepth else { throw RecordBodyError("data", "is too deep") }
            guard case .object(let members) = value else { throw RecordBodyError("data", "must be an object") }
            let text = value.text
            guard text.utf8.count <= RecordLimits.maxBytes else {
                throw RecordRefusal(.invalid([RecordValidationError(nil, .tooManyBytes)]))
            }
            // Before anything compares its texts.
            let slow = members.filter { $0.value.storageError == .tooManyMarks }
            guard slow.isEmpty else {
                throw RecordRefusal(.invalid(slow.keys.map { RecordValidationError($0, .unstorable(.tooManyMarks)) }))
            }
            data = text
        } else if action == .create || action == .put {
            throw RecordBodyError("data", "is missing")
        }
        self.init(
            action,
            id: id ?? ownID,
            data: data,
            readers: try Self.members(body["readers"], "readers"),
            writers: try Self.members(body["writers"], "writers"),
            expiry: try Self.expiry(body["expires_at"]),
            condition: condition
        )
    }

    private static func text(_ value: JSONValue?, _ name: String) throws(RecordBodyError) -> String? {
        switch value {
        case nil: nil
        case .string(let text) where !text.isFitName: throw RecordBodyError(name, "is invalid")
        case .string(let text): text
        default: throw RecordBodyError(name, "must be a string")
        }
    }

    private static func members(_ value: JSONValue?, _ name: String) throws(RecordBodyError) -> [String]? {
        guard let value else { return nil }
        guard case .array(let elements) = value else { throw RecordBodyError(name, "must be an array") }
        // The owner may be among them.
        guard elements.count <= RecordLimits.maxReaderCount + 1 else {
            throw RecordBodyError(name, "has more than \(RecordLimits.maxReaderCount) members")
        }
        var ids: [String] = []
        for element in elements {
            guard case .string(let id) = element, RecordID.isValid(id) else {
                throw RecordBodyError(name, "must be ids of members")
            }
            ids.append(id)
        }
        return ids
    }

    private static func expiry(_ value: JSONValue?) throws(RecordBodyError) -> Expiry {
        switch value {
        case nil: return .unchanged
        case .null: return .never
        case .string(let text):
            if let time = Timestamp(text) { return .at(time) }
        default: break
        }
        throw RecordBodyError("expires_at", "must be a time such as 2026-11-24T10:00:00Z, or null")
    }
}

/// A body is JSON, but none that records have.
struct RecordBodyError: Error {
    private let name: String
    private let rule: String
    private let prefix: String

    init(_ name: String, _ rule: String, prefix: String = "") {
        self.name = name
        self.rule = rule
        self.prefix = prefix
    }

    /// The same with the position of its element.
    func at(_ position: Int) -> RecordBodyError { RecordBodyError(name, rule, prefix: "record \(position): ") }

    var refusal: ServiceError { .invalidRecordBody("\(prefix)\(name) - \(rule),") }
}

extension String {
    /// Whether it may stand in a message.
    var isPlainName: Bool {
        utf8.count <= Schema.maxNameLength && utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
    }
}
