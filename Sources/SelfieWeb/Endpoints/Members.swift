import Encodings
import JSON
import SelfieAccounts

/// The members of answers, each once.
extension Endpoint.Answer.Member {
    static let user = [
        Self("first_name", .text, "The first word of the name.", example: "Ada"),
        Self("last_name", .text, "The last word of the name.", example: "Lovelace"),
        Self("email", .text, "The e-mail address.", example: "ada@example.com"),
    ]
    static let id = Self("id", .text, "The user's id as a member, which others see.", example: .string(memberID))
    static let token = [
        Self(
            "api_authtoken",
            .text,
            "The token for all other calls.",
            example: "qA3vXc8EJt5nWm2Yb7LhRs9DkPz4GfUu6BoTiNaQw1"
        ),
        Self("authtoken_expiry", .time, "When the token expires.", example: "2026-11-23T10:00:00.123Z"),
    ]
    static let noToken = [
        Self("api_authtoken", .null, "`null`: signing up does not sign in.", example: .null),
        Self("authtoken_expiry", .null, "`null`: there is no token yet.", example: .null),
    ]
    static let photo = [
        Self("name", .text, "The file's name on the client.", example: "IMG_0042.jpg"),
        Self("title", .text, "The title.", example: "My first selfie"),
        Self(
            "image_url",
            .url,
            "A signed URL of the photo. It needs no header, and expires after a day or two.",
            example: "https://selfie.example.com/photos/Xk3…?expires=…&signature=…"
        ),
        Self("random_id", .text, "The photo's id.", example: "Xk3vQ8EJt5nWm2Yb7LhRs9DkPz4GfUu6BoTiNaQw1cd"),
        Self(
            "created_at",
            .timeOrNull,
            "When it was uploaded; `null` if unknown.",
            example: "2026-11-22T10:00:00.000Z"
        ),
        Self("byte_count", .numberOrNull, "The file's length in bytes; `null` if unknown.", example: 48213),
        Self("content_type", .textOrNull, "The media type; `null` if unknown.", example: "image/jpeg"),
        Self(
            "width",
            .numberOrNull,
            "The width in pixels when displayed; `null` if unknown.",
            example: 3024
        ),
        Self("height", .numberOrNull, "The height in pixels when displayed; `null` if unknown.", example: 4032),
    ]
    static let session = [
        Self("id", .text, "The session's id.", example: "17"),
        Self("device", .textOrNull, "The device's name, as the client sent it.", example: "Ada's phone"),
        Self("created_at", .time, "When the user signed in.", example: "2026-11-22T10:00:00.000Z"),
        Self("last_used_at", .time, "When the token was last used.", example: "2026-11-22T11:30:00.000Z"),
        Self("expires_at", .time, "When the token expires.", example: "2026-11-23T10:00:00.123Z"),
        Self("current", .flag, "Whether this call uses the session.", example: true),
    ]
    /// A member as others see it.
    static let member =
        seen + [
            Self(
                "email",
                .text,
                "The e-mail address, if the member shows it.",
                example: "ada@example.com",
                isAlwaysThere: false
            )
        ]
    /// A member as its owner sees it.
    static let profile =
        seen + [
            Self("email", .text, "The e-mail address.", example: "ada@example.com"),
            emailState,
            Self("shows_email", .flag, "Whether other members see the e-mail address.", example: false),
        ]
    static let emailState = Self(
        "email_state",
        .text,
        """
        `verified` if you have proven that you get mail at the address, `refuses` if its server has refused a mail for good, and \
        `unverified` otherwise.
        """,
        example: .string(EmailState.verified.rawValue)
    )
    private static let seen = [
        Self("id", .text, "The member's id, which never changes.", example: .string(memberID)),
        Self("first_name", .text, "The first name.", example: "Ada"),
        Self("last_name", .text, "The last name.", example: "Lovelace"),
        Self("title", .text, "The title below the name; empty if there is none.", example: "Analyst"),
        Self(
            "picture",
            .urlOrNull,
            "A signed URL of the picture; `null` if there is none. It expires after a day or two.",
            example: "https://selfie.example.com/photos/Xk3…?expires=…&signature=…"
        ),
        Self(
            "picture_id",
            .textOrNull,
            "The picture's `random_id`.",
            example: "Xk3vQ8EJt5nWm2Yb7LhRs9DkPz4GfUu6BoTiNaQw1cd"
        ),
        Self("fields", .object, "Other data of the app.", example: ["phone": "+44 20 7946 0000"]),
    ]
    static let memberID = "3f2b8c1e9d7a46508e1c5b7a9d2f4e60"
    static let check = [
        Self("check", .text, "What was checked.", example: "database"),
        Self("ready", .flag, "Whether it is ready.", example: true),
    ]
}
