import Encodings
import FoundationEssentials
import JSON
import OrderedCollections
import Postgres

/// Composes the bodies of events.
struct EventReader: Sendable {
    let postgres: PostgresClient

    /// The body of an event (Standard Webhooks 1.0, "Payload structure").
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - date: When it happened.
    ///   - isFull: Whether the record, the photo or the user is in it, too, if it is still there.
    /// - Returns: JSON.
    /// - Throws: `PostgresError`.
    func body(of event: WebhookEvent, at date: Date, isFull: Bool) async throws -> String {
        let subject = event.data
        var data: [String: JSONValue] = [
            "collection": .string(subject.collection), "id": .string(subject.id), "owner": .text(subject.owner),
        ]
        data["version"] = subject.version.map { .number("\($0)") }
        if isFull { data["record"] = try await record(subject) }
        return JSONValue.object(
            ["type": .string(event.type), "timestamp": .string(date.contractText), "data": .members(data)]
        ).text
    }

    /// What an event is about; nil when it is gone.
    private func record(_ subject: WebhookEvent.Subject) async throws -> JSONValue? {
        let query: PostgresQuery =
            switch subject.collection {
            case "photos": Self.photo(subject.id)
            case "users": Self.user(subject.id)
            default: Self.record(key: subject.key ?? 0, collection: subject.collection)
            }
        guard let text = try await postgres.read(query).first?.decode("record", as: String.self) else { return nil }
        // What PostgreSQL has made is JSON.
        return try? JSONValue.parse(stored: text.utf8)
    }

    private static func record(key: Int, collection: String) -> PostgresQuery {
        """
        SELECT json_build_object('id', records.id, 'collection', \(collection)::text, 'data', data, 'owner', member_id,
            'version', version, 'created_at', \(part: time("records.created_at")),
            'updated_at', \(part: time("records.updated_at")), 'expires_at', \(part: time("expires_at")))::text AS record
        FROM records JOIN users ON users.id = owner_id WHERE key = \(key) AND deleted_at IS NULL
        """
    }

    private static func photo(_ id: String) -> PostgresQuery {
        """
        SELECT json_build_object('random_id', random_id, 'owner', member_id, 'name', name, 'title', photos.title,
            'created_at', \(part: time("photos.created_at")), 'byte_count', byte_count, 'content_type', content_type,
            'width', width, 'height', height)::text AS record
        FROM photos JOIN users ON users.id = user_id WHERE random_id = \(id) AND state = 'ready'
        """
    }

    private static func user(_ memberID: String) -> PostgresQuery {
        """
        SELECT json_build_object('member_id', member_id, 'first_name', first_name, 'last_name', last_name, 'title', title,
            'email', email, 'created_at', \(part: time("created_at")))::text AS record
        FROM users WHERE member_id = \(memberID)
        """
    }

    private static func time(_ column: String) -> PostgresQuery {
        PostgresQuery(stringLiteral: #"to_char(\#(column), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#)
    }
}

extension JSONValue {
    fileprivate static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    fileprivate static func members(_ members: [String: JSONValue]) -> JSONValue {
        .object(OrderedDictionary(uniqueKeysWithValues: members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
    }
}
