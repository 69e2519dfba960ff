import Postgres

/// The directory: members in the order of their matching values.
///
/// A full name, a last name or a title may begin with the query. A member's only position is that of the smallest
/// matching value. Three scans of indexes, each in order and each with a limit, give the page.
extension MemberStore {
    /// A page of the directory.
    ///
    /// Members whose account is disabled are not in it.
    ///
    /// - Parameter selection: Which members.
    /// - Returns: The page.
    /// - Throws: `DirectoryError.noSuchPosition`, `PostgresError`.
    package func page(_ selection: DirectorySelection) async throws -> DirectoryPage {
        var position: Position?
        if let after = selection.after {
            position = try await self.position(of: after, beginning: selection.beginning)
        }
        let rows = try await postgres.read(Self.pageQuery(selection, after: position))
        let members = try rows.prefix(selection.limit).map { try Member($0) }
        return DirectoryPage(members: members, next: rows.count > selection.limit ? members.last?.id : nil)
    }

    /// A member's position in the directory.
    struct Position {
        /// The matching value, in lowercase.
        let value: String
        /// The row's id.
        let id: Int
    }

    private func position(of memberID: String, beginning: String?) async throws -> Position {
        guard MemberID.isPossible(memberID) else { throw DirectoryError.noSuchPosition }
        let value = beginning.map(Self.smallest(beginningWith:)) ?? Self.fullName
        let rows = try await postgres.read(
            "SELECT id, \(part: value) AS value FROM users WHERE member_id = \(memberID)"
        )
        guard let row = rows.first, let value: String = try row.decodeIfPresent("value") else {
            throw DirectoryError.noSuchPosition
        }
        return Position(value: value, id: try row.decode("id"))
    }

    /// The statement of a page.
    ///
    /// It reads one row more than the page has: that row means that another page follows.
    static func pageQuery(_ selection: DirectorySelection, after position: Position?) -> PostgresQuery {
        let found: PostgresQuery =
            if let beginning = selection.beginning {
                """
                (\(part: scan(fullName, "", of: beginning, after: position)))
                UNION (\(part: scan(lastName, "", of: beginning, after: position)))
                UNION (\(part: scan(title, "AND title <> ''", of: beginning, after: position)))
                """
            } else {
                scan(fullName, "", after: position)
            }
        // The join is made row by row. A planner that does not know the limit would read the whole table for it.
        return """
            SELECT shown.* FROM (
                SELECT value, id FROM (\(part: found)) AS found ORDER BY value, id LIMIT \(selection.limit + 1)
            ) AS page CROSS JOIN LATERAL (
                SELECT \(part: Member.columns), \(part: shownEmail) FROM users \(part: Member.pictures)
                WHERE users.id = page.id LIMIT 1
            ) AS shown ORDER BY page.value, page.id
            """
    }

    private static let fullName: PostgresQuery = #"lower(first_name || ' ' || last_name) COLLATE "C""#
    private static let lastName: PostgresQuery = #"lower(last_name) COLLATE "C""#
    private static let title: PostgresQuery = #"lower(title) COLLATE "C""#

    /// Walks along an index, by as many rows as a page has at most, and one more.
    private static func scan(
        _ value: PostgresQuery,
        _ condition: PostgresQuery,
        of beginning: String? = nil,
        after position: Position?
    ) -> PostgresQuery {
        var conditions: PostgresQuery = "disabled_at IS NULL \(part: condition)"
        if let position {
            conditions = """
                \(part: conditions)
                AND (\(part: value), id) > (\(position.value)::text COLLATE "C", \(position.id)::integer)
                """
        }
        if let beginning {
            conditions = """
                \(part: conditions) AND \(part: begins(value, with: beginning))
                AND \(part: value) = \(part: smallest(beginningWith: beginning))
                """
        }
        return """
            SELECT \(part: value) AS value, id FROM users WHERE \(part: conditions)
            ORDER BY \(part: value), id LIMIT 101
            """
    }

    /// The smallest of a member's values that begins with a text, ignoring case; NULL where there is none.
    private static func smallest(beginningWith text: String) -> PostgresQuery {
        let cases = [fullName, lastName, title].map { value -> PostgresQuery in
            "CASE WHEN \(part: begins(value, with: text)) THEN \(part: value) END"
        }
        return "least(\(part: cases[0]), \(part: cases[1]), \(part: cases[2]))"
    }

    /// Whether a value begins with a text: it is in the range up to the text with the last of all letters behind it.
    private static func begins(_ value: PostgresQuery, with text: String) -> PostgresQuery {
        """
        \(part: value) >= lower(\(text)::text) COLLATE "C"
        AND \(part: value) < (lower(\(text)::text) || \(lastLetter)::text) COLLATE "C"
        """
    }

    private static let lastLetter = "\u{10FFFF}"
}
