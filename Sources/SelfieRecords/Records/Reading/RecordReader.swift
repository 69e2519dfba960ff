import Postgres
import RecordSchema

/// A user who reads the records of a collection, as parts of statements.
struct RecordReader {
    let userID: Int
    let collection: AppliedCollection

    /// The condition that a row of `records` is of the collection, and of an inbox in the user's own.
    var isInPlace: PostgresQuery {
        let recipientID = collection.definition.access == .inbox ? userID : nil
        return "records.collection_id = \(collection.id) AND records.recipient_id = coalesce(\(recipientID)::bigint, 0)"
    }

    private var own: PostgresQuery { "SELECT id FROM streams WHERE user_id = \(userID)" }

    /// The roles that the user has, of some.
    private func roles(_ roles: [AppliedRole]) -> PostgresQuery {
        """
        SELECT role_id FROM role_members JOIN roles ON roles.id = role_id
        WHERE user_id = \(userID) AND disabled_at IS NULL AND role_id = ANY(\(roles.map(\.id)))
        """
    }

    /// Selects the stream that a list walks along, if the user has it.
    ///
    /// A user reads each collection's records through one stream: that of the role, or else that of the role which only reads.
    var listStream: PostgresQuery {
        switch collection.definition.access {
        case .private, .acl, .inbox: own
        case .published: "SELECT \(collection.streamID)::bigint AS id"
        case .shared:
            """
            SELECT id FROM (
                \(part: stream(of: collection.role)) UNION ALL \(part: stream(of: collection.readers))
            ) AS mine LIMIT 1
            """
        }
    }

    /// Selects the stream of a role, if the user has the role.
    private func stream(of role: AppliedRole?) -> PostgresQuery {
        guard let role else { return "SELECT NULL::bigint AS id WHERE false" }
        return "SELECT \(role.streamID)::bigint AS id WHERE EXISTS (\(part: roles([role])))"
    }

    /// Selects all streams by which the user has rights in the collection.
    var streams: PostgresQuery {
        guard let role = collection.role else {
            return "\(part: own) UNION ALL SELECT \(collection.streamID)::bigint"
        }
        let roles = roles([role] + collection.managers)
        // A former member of the role has no access, not even to their own records.
        return """
            \(part: own) AND EXISTS (\(part: roles))
            UNION ALL SELECT id FROM streams WHERE role_id IN (\(part: roles))
            UNION ALL \(part: stream(of: collection.readers))
            """
    }

    /// Selects all streams by which the user may read any of some collections.
    static func streams(ofUser userID: Int, reading collections: [AppliedCollection]) -> PostgresQuery {
        """
        SELECT id FROM streams WHERE user_id = \(userID)
        UNION ALL SELECT unnest(\(collections.map(\.streamID)))
        UNION ALL SELECT streams.id FROM role_members JOIN roles ON roles.id = role_members.role_id
            JOIN streams ON streams.role_id = roles.id
            WHERE role_members.user_id = \(userID) AND disabled_at IS NULL
        """
    }

    /// The condition that a record of `records` is neither deleted nor expired.
    static let isThere = isThere("records")

    /// The same for an alias of the table.
    static func isThere(_ records: StaticString) -> PostgresQuery {
        PostgresQuery(
            stringLiteral: """
                \(records).deleted_at IS NULL
                AND (\(records).expires_at IS NULL OR \(records).expires_at > now() AT TIME ZONE 'UTC')
                """
        )
    }
}
