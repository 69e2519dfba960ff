package import FoundationEssentials
import Postgres

/// An event as the user of the account sees it.
package struct OwnEvent: Sendable {
    package let id: Int
    package let happenedAt: Date
    package let event: String
    /// The role that was given or taken; nil for other events.
    package let role: String?
    /// Nil for an event of the command line, one that another user did, and an old one.
    package let address: String?
    package let requestID: String?
    /// Whether another user did it.
    package let isByAnother: Bool
    /// Whether it was done to another user.
    package let isToAnother: Bool
}

extension AuditStore {
    /// Some events that a user did, or that were done to the user's account, the oldest first.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - id: The id of the last event of the page before; 0 for the first page.
    ///   - count: How many at most.
    /// - Returns: The events. Nothing in them is about another user.
    /// - Throws: `PostgresError`.
    package func history(ofUser userID: Int, after id: Int, count: Int) async throws -> [OwnEvent] {
        // Each half walks along its own index.
        try await postgres.read(
            """
            SELECT id, happened_at, event, role, is_by_another, user_id <> \(userID) AS is_to_another,
                CASE WHEN NOT is_by_another THEN address END AS address,
                CASE WHEN NOT is_by_another THEN request_id END AS request_id
            FROM (
                (
                    SELECT *, coalesce(actor_id <> \(userID), false) AS is_by_another FROM audit_events
                    WHERE user_id = \(userID) AND id > \(id) ORDER BY id LIMIT \(count)
                ) UNION ALL (
                    SELECT *, false AS is_by_another FROM audit_events
                    WHERE actor_id = \(userID) AND user_id <> \(userID) AND id > \(id) ORDER BY id LIMIT \(count)
                )
            ) AS events
            ORDER BY id LIMIT \(count)
            """
        ).map { row in
            OwnEvent(
                id: try row.decode("id"),
                happenedAt: try row.decode("happened_at"),
                event: try row.decode("event"),
                role: try row.decodeIfPresent("role"),
                address: try row.decodeIfPresent("address"),
                requestID: try row.decodeIfPresent("request_id"),
                isByAnother: try row.decode("is_by_another"),
                isToAnother: try row.decode("is_to_another")
            )
        }
    }
}
