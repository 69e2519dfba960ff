package import Encodings
package import FoundationEssentials
import Postgres
package import SelfieAccounts

/// An account as an administrator sees it.
package struct UserSummary: Sendable, Encodable {
    package let id: Int
    /// The id that others know.
    package let memberId: String
    package let firstName: String
    package let lastName: String
    package let title: String
    package let email: String
    package let emailState: EmailState
    @Nullable package var createdAt: Date?
    /// Nil for an enabled account.
    @Nullable package var disabledAt: Date?
    package let photoCount: Int
    /// The number of records that the user owns.
    package let recordCount: Int
    /// The number of sessions that have not expired.
    package let sessionCount: Int

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        memberId = try row.decode("member_id")
        firstName = try row.decode("first_name")
        lastName = try row.decode("last_name")
        title = try row.decode("title")
        email = try row.decode("email")
        emailState = EmailState(rawValue: try row.decode("email_state")) ?? .unverified
        createdAt = try row.decodeIfPresent("created_at")
        disabledAt = try row.decodeIfPresent("disabled_at")
        photoCount = try row.decode("photo_count")
        recordCount = try row.decode("record_count")
        sessionCount = try row.decode("session_count")
    }
}

/// An audit event.
package struct AuditSummary: Sendable, Encodable {
    package let id: Int
    package let happenedAt: Date
    package let event: String
    /// How often it happened in its hour, for an event without an account; else 1.
    package let count: Int
    /// Nil when there was no such account.
    @Nullable package var userID: Int?
    /// The account that did it; nil for the account's own user, and for the command line.
    @Nullable package var actorID: Int?
    /// The role that was given or taken; nil for other events.
    @Nullable package var role: String?
    /// Nil for an event of the command line, and for a deleted account.
    @Nullable package var address: String?
    @Nullable package var requestID: String?

    private enum CodingKeys: String, CodingKey {
        case id, happenedAt, event, count, role, address
        case userID = "userId"
        case actorID = "actorId"
        case requestID = "requestId"
    }

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        happenedAt = try row.decode("happened_at")
        event = try row.decode("event")
        count = try row.decode("count")
        userID = try row.decodeIfPresent("user_id")
        actorID = try row.decodeIfPresent("actor_id")
        role = try row.decodeIfPresent("role")
        address = try row.decodeIfPresent("address")
        requestID = try row.decodeIfPresent("request_id")
    }
}
