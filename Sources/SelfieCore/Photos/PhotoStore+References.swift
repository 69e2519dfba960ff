import Postgres

extension PhotoStore {
    static func lockOwn(
        _ randomIDs: [String],
        ofUser userID: Int,
        on connection: PostgresConnection
    ) async throws -> [String: Int] {
        let rows = try await connection.query(
            """
            SELECT id::bigint AS id, random_id::text AS random_id FROM photos
            WHERE random_id = ANY(\(randomIDs)) AND user_id = \(userID) AND state = 'ready' ORDER BY id FOR KEY SHARE
            """
        )
        return try rows.reduce(into: [:]) { $0[try $1.decode("random_id")] = try $1.decode("id") }
    }
}
