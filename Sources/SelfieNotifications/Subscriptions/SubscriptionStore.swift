import FoundationEssentials
import OrderedCollections
package import Postgres
import RecordSchema
import SelfieAccounts
package import SelfieRecords

/// The table `subscriptions`.
package struct SubscriptionStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// A user has as many subscriptions as a user may have.
    package struct TooMany: Error {}

    /// Adds a subscription, or changes it.
    ///
    /// The same again changes nothing. Another one begins anew, also if it had told of something.
    ///
    /// - Parameters:
    ///   - definition: What it looks for, and what it says.
    ///   - filter: The same, checked.
    ///   - id: The id of the client's choice.
    ///   - userID: The user.
    /// - Returns: The subscription.
    /// - Throws: ``TooMany``, `FilterTable.SchemaOutdated`, `SessionError.ended` when the account is deleted, `PostgresError`.
    package func put(
        _ definition: Subscription.Definition,
        _ filter: CheckedFilter,
        id: String,
        ofUser userID: Int
    ) async throws -> Subscription {
        try await postgres.withTransaction { connection in
            try await FilterTable.holdSchema(of: filter, on: connection)
            // Parallel calls of a user wait here for each other, so that they can't pass the limit together.
            let user = try await connection.query("SELECT id FROM users WHERE id = \(userID) FOR NO KEY UPDATE")
            if user.isEmpty { throw SessionError.ended }
            let filterID = try await FilterTable.add(filter, on: connection)
            try await connection.execute(
                """
                INSERT INTO subscriptions AS old (user_id, name, filter_id, kinds, is_once, channel, alert, sound, has_badge,
                    is_silent, collapse)
                SELECT \(userID), \(id), \(filterID), \(definition.kinds.map(\.rawValue).sorted()), \(definition.isOnce),
                    \(definition.channel.rawValue), \(definition.alert?.text), \(definition.sound), \(definition.hasBadge),
                    \(definition.isSilent), \(definition.collapse)
                WHERE (SELECT count(*) FROM subscriptions WHERE user_id = \(userID) AND name <> \(id)) < \(Subscription.maxCount)
                ON CONFLICT (user_id, name) DO UPDATE SET filter_id = excluded.filter_id, kinds = excluded.kinds,
                    is_once = excluded.is_once, channel = excluded.channel, alert = excluded.alert, sound = excluded.sound,
                    has_badge = excluded.has_badge, is_silent = excluded.is_silent, collapse = excluded.collapse,
                    created_at = excluded.created_at, fired_at = NULL
                WHERE (old.filter_id, old.kinds, old.is_once, old.channel, old.alert, old.sound, old.has_badge, old.is_silent,
                    old.collapse) IS DISTINCT FROM (excluded.filter_id, excluded.kinds, excluded.is_once, excluded.channel,
                    excluded.alert, excluded.sound, excluded.has_badge, excluded.is_silent, excluded.collapse)
                """
            )
            let rows = try await connection.query(
                "\(part: Self.selection(ofUser: userID)) AND subscriptions.name = \(id)"
            )
            guard let row = rows.first else { throw TooMany() }
            return try Subscription(row)
        }
    }

    /// A user's subscriptions, by their ids.
    ///
    /// - Throws: `PostgresError`.
    package func list(ofUser userID: Int) async throws -> [Subscription] {
        try await postgres.read("\(part: Self.selection(ofUser: userID)) ORDER BY subscriptions.name")
            .map(Subscription.init)
    }

    /// One of a user's subscriptions; nil when there is none.
    ///
    /// - Throws: `PostgresError`.
    package func find(_ id: String, ofUser userID: Int) async throws -> Subscription? {
        try await postgres.read("\(part: Self.selection(ofUser: userID)) AND subscriptions.name = \(id)").first
            .map(Subscription.init)
    }

    /// Removes one of a user's subscriptions.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `PostgresError`.
    package func remove(_ id: String, ofUser userID: Int) async throws -> Bool {
        try await postgres.write("DELETE FROM subscriptions WHERE user_id = \(userID) AND name = \(id)") > 0
    }

    private static func selection(ofUser userID: Int) -> PostgresQuery {
        """
        SELECT subscriptions.*, condition::text AS condition, 
            CASE WHEN collection_id = 0 THEN \(Schema.photosName)::text ELSE collections.name END AS collection
        FROM subscriptions JOIN subscription_filters AS filter ON filter.id = filter_id
        LEFT JOIN collections ON collections.id = collection_id
        WHERE user_id = \(userID)
        """
    }
}

extension Subscription {
    fileprivate init(_ row: PostgresRow) throws {
        let kinds: [String] = try row.decode("kinds")
        self.init(
            id: try row.decode("name"),
            definition: Definition(
                collection: try row.decode("collection"),
                condition: try row.decode("condition"),
                kinds: Set(kinds.compactMap(ChangeKind.init)),
                isOnce: try row.decode("is_once"),
                channel: Channel(rawValue: try row.decode("channel")) ?? .push,
                alert: try row.decodeIfPresent("alert").map(PushText.init),
                sound: try row.decodeIfPresent("sound"),
                hasBadge: try row.decode("has_badge"),
                isSilent: try row.decode("is_silent"),
                collapse: try row.decodeIfPresent("collapse")
            ),
            createdAt: try row.decode("created_at"),
            firedAt: try row.decodeIfPresent("fired_at")
        )
    }
}
