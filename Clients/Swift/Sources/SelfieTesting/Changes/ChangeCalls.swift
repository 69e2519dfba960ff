import Foundation
import SelfieClient

/// The feed of what has changed for a user.
enum ChangeCalls {
    static let routes = [Route("GET", "api/changes", .user(page))]

    private static let usualLimit = 100

    private static func page(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let limit = try request.number("limit", in: 1...500) ?? usualLimit
        let wait = try request.number("wait", in: 0...25) ?? 0
        let collections = request.query["collections"].map { $0.split(separator: ",").map(String.init).sorted() }
        for name in collections ?? [] where name != "photos" {
            _ = try state.collection(RecordLocation(name: name, inboxOf: nil), seenBy: session.userID)
        }
        let user = try state.user(of: session)
        var cursor = FeedCursor(
            epoch: state.cursorEpoch,
            userID: user.id,
            lostRoles: user.lostRoles,
            collections: collections,
            place: 0
        )
        switch request.query["since"] {
        case nil: break
        case "now"?: cursor.place = state.grants.count
        case let since?: cursor.place = try FeedCursor.read(since, sameAs: cursor).place
        }
        let all = state.grants.changes(for: user.id, after: cursor.place).filter {
            collections?.contains($0.key.collection) ?? true
        }
        let changes = Array(all.prefix(limit))
        let hasMore = all.count > limit
        cursor.place = hasMore ? changes.last?.place ?? 0 : state.grants.count
        var answer = ServiceAnswer.json([
            "changes": .array(changes.map { state.json(of: $0, for: user.id) }), "cursor": .string(try cursor.text),
            "more": .bool(hasMore),
        ])
        if changes.isEmpty { answer.waitsUntil = .now + .seconds(wait) }
        return answer
    }
}

/// Where a reader is in the feed.
private struct FeedCursor: Codable {
    let epoch: Int
    let userID: String
    let lostRoles: Int
    let collections: [String]?
    /// The number of the last change.
    var place: Int

    var text: String {
        get throws { try JSONCoding.encode(self).base64EncodedString() }
    }

    /// Reads a cursor that a client sends.
    ///
    /// - Parameters:
    ///   - text: The cursor.
    ///   - present: What a cursor of this call is now.
    /// - Returns: The cursor.
    /// - Throws: `ServiceRefusal` if it has ended, or is none.
    static func read(_ text: String, sameAs present: FeedCursor) throws(ServiceRefusal) -> FeedCursor {
        guard let data = Data(base64Encoded: text), let cursor = try? JSONCoding.decode(Self.self, from: data) else {
            throw .invalid("since", valid: "now, or the cursor of an answer")
        }
        let reason: (code: String, words: String)? =
            if cursor.epoch != present.epoch {
                ("database", "The database may have lost changes")
            } else if cursor.collections != present.collections {
                ("collections", "The cursor is for other collections")
            } else if cursor.userID != present.userID || cursor.lostRoles != present.lostRoles {
                ("access", "You can see less than before")
            } else {
                nil
            }
        if let reason {
            let message = "\(reason.words). Begin again without a cursor"
            throw ServiceRefusal(status: 410, code: "changes_\(reason.code)", message: message)
        }
        return cursor
    }
}

extension ServiceState {
    /// A change as its reader gets it.
    fileprivate mutating func json(of change: Grants.Change, for reader: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "type": .string(change.kind.rawValue), "collection": .string(change.key.collection),
            "id": .string(change.key.id),
        ]
        if change.kind != .deleted {
            if let photo = photos[change.key.id], change.key == .photo(photo.id) {
                members["photo"] = json(of: photo)
            } else if let record = records[change.key] {
                members["record"] = json(of: record, for: reader)
            }
        }
        return .object(members)
    }
}
