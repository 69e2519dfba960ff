import Postgres
package import SelfieAccounts

/// Lists of a user's photos.
extension PhotoStore {
    /// Finds the photos of a list, and the library at the same moment.
    ///
    /// - Parameters:
    ///   - selection: Which photos.
    ///   - session: The session of the user. A list from a standby has all changes that the session knows of.
    /// - Returns: The photos, whose rows ``rows(_:of:)`` reads.
    /// - Throws: `SessionError.ended` when the session has ended, `PhotoError.noSuchPosition` when the list is to begin after
    ///   a photo that the user does not have, `PostgresError`.
    package func select(_ selection: PhotoSelection, bySession session: Session) async throws -> SelectedPhotos {
        // PostgreSQL's text can't hold NUL, so no photo's id has one.
        if let after = selection.after, after.unicodeScalars.contains("\0") { throw PhotoError.noSuchPosition }
        let query: PostgresQuery = """
            SELECT \(part: PostgresQuery(stringLiteral: PhotoLibrary.columns)), position.id AS position, ARRAY(
                SELECT photos.id FROM photos WHERE photos.user_id = sessions.user_id AND photos.state = 'ready'
                \(part: Self.order(of: selection)) LIMIT \(selection.limit)::bigint
            ) AS photo_ids, (
                SELECT array_agg(random_id) FROM (
                    SELECT random_id FROM photos WHERE photos.user_id = sessions.user_id AND photos.state = 'ready'
                    \(part: Self.order(of: selection)) OFFSET \(selection.limit.map { $0 - 1 })::bigint
                    LIMIT CASE WHEN \(selection.limit)::bigint IS NULL THEN 0 ELSE 2 END
                ) AS last_and_next
            ) AS last_and_next
            FROM sessions LEFT JOIN photo_libraries ON photo_libraries.user_id = sessions.user_id
            LEFT JOIN photos AS position ON position.random_id = \(selection.after)::text
                AND position.user_id = sessions.user_id AND position.state = 'ready'
            WHERE sessions.id = \(session.id)
            """
        var rows = try await postgres.readFromStandby(query)
        if let row = rows.first, try PhotoLibrary(row).version.changedAt < session.library.version.changedAt {
            rows = try await postgres.read(query)
        }
        guard let row = rows.first else { throw SessionError.ended }
        if selection.after != nil, try row.decodeIfPresent("position", as: Int.self) == nil {
            throw PhotoError.noSuchPosition
        }
        let lastAndNext: [String] = try row.decodeIfPresent("last_and_next") ?? []
        return SelectedPhotos(
            library: try PhotoLibrary(row),
            order: selection.order,
            ids: try row.decode("photo_ids"),
            lastBeforeMore: lastAndNext.count == 2 ? lastAndNext[0] : nil
        )
    }

    /// Where the list begins, and its order.
    private static func order(of selection: PhotoSelection) -> PostgresQuery {
        switch (selection.order, selection.after) {
        case (.oldest, nil): "ORDER BY photos.id"
        case (.oldest, _): "AND photos.id > position.id ORDER BY photos.id"
        case (.newest, nil): "ORDER BY photos.id DESC"
        case (.newest, _): "AND photos.id < position.id ORDER BY photos.id DESC"
        }
    }

    /// Reads some photos of a list.
    ///
    /// Those that were deleted meanwhile are left out.
    ///
    /// - Parameters:
    ///   - range: Which of the list's photos.
    ///   - selected: The list.
    /// - Returns: The photos, in the list's order.
    /// - Throws: `PostgresError`.
    package func rows(_ range: Range<Int>, of selected: SelectedPhotos) async throws -> PhotoRows {
        let order: PostgresQuery = selected.order == .oldest ? "ORDER BY id" : "ORDER BY id DESC"
        let photos: PostgresQuery = """
            SELECT \(part: PhotoRows.columns) FROM photos
            WHERE id = ANY(\(Array(selected.ids[range]))) AND user_id = \(selected.library.userID) AND state = 'ready'
            """
        // The list may be the primary's, or another standby's.
        // A standby without its version may have older rows, or too few.
        let hasVersion: PostgresQuery = """
            EXISTS (SELECT FROM photo_libraries WHERE user_id = \(selected.library.userID)
                AND changed_at >= \(selected.library.version.changedAt))
            """
        let rows = try await postgres.readFromStandby("\(part: photos) AND \(part: hasVersion) \(part: order)")
        if rows.count == range.count { return try PhotoRows(rows) }
        return try PhotoRows(await postgres.read("\(part: photos) \(part: order)"))
    }
}
