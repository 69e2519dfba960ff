import JSON
package import Postgres

/// The columns of `users` that others see.
package struct MemberStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// A user's own profile.
    ///
    /// - Parameter id: The user's id.
    /// - Returns: The profile; nil when the account is deleted.
    /// - Throws: `PostgresError`.
    package func profile(ofUser id: Int) async throws -> Profile? {
        try await postgres.read(Self.profileQuery(ofUser: id)).first.map(Profile.init)
    }

    /// The member with an id.
    ///
    /// - Parameter memberID: The id, as a client sent it.
    /// - Returns: The member; nil when there is none, or its account is disabled.
    /// - Throws: `PostgresError`.
    package func member(_ memberID: String) async throws -> Member? {
        guard MemberID.isPossible(memberID) else { return nil }
        let rows = try await postgres.read(
            """
            SELECT \(part: Member.columns), \(part: Self.shownEmail) FROM users \(part: Member.pictures)
            WHERE member_id = \(memberID) AND disabled_at IS NULL
            """
        )
        return try rows.first.map(Member.init)
    }

    /// Changes a user's profile.
    ///
    /// Of parallel changes none is lost: one waits for the other.
    func change(profileOfUser id: Int, by change: ProfileChange) async throws -> Profile {
        try await postgres.withTransaction { connection in
            let rows = try await connection.query("SELECT profile FROM users WHERE id = \(id) FOR NO KEY UPDATE")
            guard let row = rows.first else { throw SessionError.ended }
            if !change.isEmpty {
                let present = try JSONValue.parse(stored: try row.decode("profile", as: PostgresJSON.self).utf8)
                let picture = try await Self.pictureID(change.picture, ofUser: id, on: connection)
                let hasPicture = picture != nil || change.picture == nil || change.picture == ProfileChange.Picture.none
                let fields = try change.mergedFields(with: present, hasPicture: hasPicture)
                try await connection.execute(
                    """
                    UPDATE users SET
                        first_name = coalesce(\(change.firstName)::text, first_name),
                        last_name = coalesce(\(change.lastName)::text, last_name),
                        title = coalesce(\(change.title)::text, title),
                        picture_id = CASE WHEN \(change.picture != nil) THEN \(picture)::integer ELSE picture_id END,
                        shows_email = coalesce(\(change.showsEmail)::boolean, shows_email),
                        profile = coalesce(\(fields.map { PostgresJSON(utf8: Array($0.text.utf8)) })::json, profile),
                        updated_at = now() AT TIME ZONE 'UTC'
                    WHERE id = \(id)
                    """
                )
            }
            guard let changed = try await connection.query(Self.profileQuery(ofUser: id)).first else {
                throw SessionError.ended
            }
            return try Profile(changed)
        }
    }

    /// The row's id of a user's own photo; nil for none, and for a photo that does not exist.
    private static func pictureID(
        _ picture: ProfileChange.Picture?,
        ofUser userID: Int,
        on connection: PostgresConnection
    ) async throws -> Int? {
        guard case .photo(let randomID)? = picture else { return nil }
        let rows = try await connection.query(
            """
            SELECT id FROM photos
            WHERE random_id = \(randomID) AND user_id = \(userID) AND state <> 'pending'
            FOR KEY SHARE
            """
        )
        return try rows.first?.decode("id")
    }

    private static func profileQuery(ofUser id: Int) -> PostgresQuery {
        """
        SELECT \(part: Member.columns), email, shows_email, \(part: PostgresQuery(stringLiteral: EmailState.column)) FROM users \(part: Member.pictures) WHERE users.id = \(id)
        """
    }

    /// A member's e-mail, if its owner shows it.
    static let shownEmail: PostgresQuery = "CASE WHEN shows_email THEN email END AS email"
}

extension Profile {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            member: try Member(row),
            showsEmail: try row.decode("shows_email"),
            emailState: EmailState(rawValue: try row.decode("email_state")) ?? .unverified
        )
    }
}
