import Postgres

/// A user as others see one.
package struct Member: Sendable, Equatable {
    /// Random letters without a meaning.
    package let id: String
    package let firstName: String
    package let lastName: String
    package let title: String
    /// Nil when there is none, or its photo was deleted.
    package let picture: Picture?
    /// The free fields: a JSON object, as UTF-8.
    package let fields: [UInt8]
    /// Nil unless its owner shows it.
    package let email: String?

    /// The same with names, title and picture alone.
    package var briefly: Member {
        Member(
            id: id,
            firstName: firstName,
            lastName: lastName,
            title: title,
            picture: picture,
            fields: Array("{}".utf8),
            email: nil
        )
    }

    /// A photo that shows a member.
    package struct Picture: Sendable, Equatable {
        /// The photo's id for clients.
        package let randomID: String
        /// The series of its owner's URLs.
        package let urlSeries: Int
    }
}

/// A member as its owner sees it.
package struct Profile: Sendable, Equatable {
    /// The member, always with its e-mail.
    package let member: Member
    /// Whether others see the e-mail.
    package let showsEmail: Bool
    package let emailState: EmailState
}

extension Member {
    /// What a statement selects, beside a column `email`.
    static let columns: PostgresQuery = """
        users.member_id, users.first_name, users.last_name, users.title, users.profile, pictures.random_id AS picture,
        coalesce(libraries.url_series, 0) AS url_series
        """
    /// The joins to `users` for these columns.
    static let pictures: PostgresQuery = """
        LEFT JOIN photos AS pictures ON pictures.id = users.picture_id AND pictures.user_id = users.id
            AND pictures.state <> 'pending'
        LEFT JOIN photo_libraries AS libraries ON libraries.user_id = users.id
        """

    init(_ row: PostgresRow) throws {
        let picture: String? = try row.decodeIfPresent("picture")
        let urlSeries: Int = try row.decode("url_series")
        self.init(
            id: try row.decode("member_id"),
            firstName: try row.decode("first_name"),
            lastName: try row.decode("last_name"),
            title: try row.decode("title"),
            picture: picture.map { Picture(randomID: $0, urlSeries: urlSeries) },
            fields: try row.decode("profile", as: PostgresJSON.self).utf8,
            email: try row.decodeIfPresent("email")
        )
    }
}
