import Foundation
import SelfieClient

/// A record as a client sends it.
struct RecordContent: Sendable {
    enum Expiry: Sendable {
        /// It was not sent.
        case unchanged
        case never
        case at(Date)
    }

    let id: String?
    let data: [String: JSONValue]
    let readers: [String]?
    let writers: [String]?
    let expiry: Expiry
    private static let maxDataBytes = 64 << 10

    /// Reads a record.
    ///
    /// - Throws: `ServiceRefusal`.
    init(_ json: JSONValue, at now: Date) throws(ServiceRefusal) {
        guard let members = json.members else { throw .recordMalformed("A record must be an object") }
        if let other = members.keys.first(where: {
            !["id", "data", "readers", "writers", "expires_at"].contains($0)
        }) {
            throw .recordMalformed("\(other) is not a member of a record: the record's fields belong in data")
        }
        guard let data = members["data"]?.members else { throw .recordMalformed("data must be an object") }
        guard ((try? JSONCoding.encode(data)) ?? Data()).count <= Self.maxDataBytes else { throw .recordTooLarge }
        (self.data, id) = (data, members["id"]?.text)
        readers = try Self.members("readers", members["readers"])
        writers = try Self.members("writers", members["writers"])
        switch members["expires_at"] {
        case nil: expiry = .unchanged
        case .null?: expiry = .never
        case let value?:
            guard let date = value.text.flatMap(JSONCoding.date), date > now else { throw .expiryInvalid }
            expiry = .at(date)
        }
    }

    private static func members(_ name: String, _ value: JSONValue?) throws(ServiceRefusal) -> [String]? {
        guard let value, value != .null else { return nil }
        guard let ids = value.texts else { throw .recordMalformed("\(name) must be an array of ids") }
        return ids
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
