import Postgres
import SelfieAccounts

/// A user's usage and limit.
package struct QuotaUse: Sendable, Encodable, Equatable {
    package let has: Int
    package let mayHave: Int
    /// Whether the limit is the service's setting, and not one for this user.
    package let isUsual: Bool

    fileprivate init(has: Int, own: Int?, usual: Int) {
        self.has = has
        mayHave = own ?? usual
        isUsual = own == nil
    }
}

/// A change of a limit of a user's.
package enum QuotaChange: Sendable, Equatable {
    /// Use the service's setting again.
    case usual
    case limit(Int)

    fileprivate var own: Int? {
        switch self {
        case .usual: nil
        case .limit(let limit): limit
        }
    }
}

extension PhotoStore {
    /// What a user has, and may have, after a change.
    ///
    /// A user who has more than a new limit keeps it all, and can't upload more.
    ///
    /// - Parameters:
    ///   - id: The user's id.
    ///   - photos: The change of the limit of photos; nil for none.
    ///   - bytes: The change of the limit of all photos' bytes; nil for none.
    ///   - usual: The service's settings.
    /// - Returns: The photos, their bytes, and whether a limit was changed. Nil when there is no such user.
    /// - Throws: `PostgresError`.
    package func quota(
        ofUser id: Int,
        changing photos: QuotaChange?,
        _ bytes: QuotaChange?,
        usual: PhotoQuota
    ) async throws -> (photos: QuotaUse, bytes: QuotaUse, isChanged: Bool)? {
        try await postgres.withTransaction { connection in
            try await connection.execute(
                """
                INSERT INTO photo_libraries (user_id) SELECT id FROM users WHERE id = \(id) ON CONFLICT DO NOTHING
                """
            )
            let rows = try await connection.query(
                """
                SELECT photo_count, byte_count, max_photo_count, max_byte_count FROM photo_libraries
                WHERE user_id = \(id) FOR NO KEY UPDATE
                """
            )
            guard let row = rows.first else { return nil }
            let last: (photos: Int?, bytes: Int?) = (
                try row.decodeIfPresent("max_photo_count"), try row.decodeIfPresent("max_byte_count")
            )
            let own = (photos: photos.map(\.own) ?? last.photos, bytes: bytes.map(\.own) ?? last.bytes)
            let isChanged = own != last
            if isChanged {
                try await connection.execute(
                    """
                    UPDATE photo_libraries SET max_photo_count = \(own.photos), max_byte_count = \(own.bytes)
                    WHERE user_id = \(id)
                    """
                )
                try await AuditStore.add(.quotaChanged, userID: id, from: nil, on: connection)
            }
            return (
                QuotaUse(has: try row.decode("photo_count"), own: own.photos, usual: usual.maxCount),
                QuotaUse(has: try row.decode("byte_count"), own: own.bytes, usual: usual.maxBytes),
                isChanged
            )
        }
    }
}
