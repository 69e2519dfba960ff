import JSON
import SelfieAccounts

extension Endpoint.JSONBodyDescription {
    /// A user's change of the profile.
    static let profileChange = Self(
        "The changes.",
        schema: [
            "type": "object", "additionalProperties": false,
            "properties": [
                "first_name": name("The first name."),
                "last_name": line("The last name; empty for a user with only one name."),
                "title": line("A title that others see below the name."),
                "picture": [
                    "type": ["string", "null"],
                    "description": "The `random_id` of one of your photos; `null` for no picture.",
                ],
                "shows_email": ["type": "boolean", "description": "Whether other members see the e-mail address."],
                "fields": [
                    "type": "object",
                    "description": """
                    Other data of the app that others may see: a merge patch. All fields together have at most \
                    \(ProfileFields.maxBytes) bytes as JSON, and at most \(ProfileFields.maxDepth) levels.
                    """,
                ],
            ],
        ],
        example: ["title": "Analyst", "shows_email": true, "fields": ["phone": "+44 20 7946 0000", "fax": .null]],
        validationErrors: nameRules("first_name") + rules("last_name", lineRules) + rules("title", lineRules)
            + rules("picture", [.invalid]) + rules("shows_email", [.invalid])
            + rules(
                "fields",
                [
                    .invalid, .tooManyBytes(max: ProfileFields.maxBytes), .tooDeep(maxDepth: ProfileFields.maxDepth),
                    .hasNull, .numberOutOfRange,
                ]
            ) + [ServiceError(.unknown, of: "nickname"), .jsonNotAnObject]
    )

    private static let lineRules: [ValidationError.Reason] = [
        .invalid, .tooLong(maxCharacters: ValidationError.maxCharacters),
    ]

    private static func nameRules(_ name: String) -> [ServiceError] { rules(name, [.blank] + lineRules) }

    private static func rules(_ name: String, _ reasons: [ValidationError.Reason]) -> [ServiceError] {
        reasons.map { ServiceError($0, of: name) }
    }

    private static func line(_ description: String) -> JSONValue {
        [
            "type": "string", "maxLength": JSONValue(ValidationError.maxCharacters), "not": Pattern.controlButSpace,
            "description": .string(description),
        ]
    }

    private static func name(_ description: String) -> JSONValue {
        [
            "type": "string", "minLength": 1, "maxLength": JSONValue(ValidationError.maxCharacters),
            "pattern": .string(Pattern.notBlank), "description": .string(description),
        ]
    }
}
