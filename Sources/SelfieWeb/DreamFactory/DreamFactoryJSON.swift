import Hummingbird
import JSON
import OrderedCollections
import RecordSchema
import SelfieAccounts

/// What DreamFactory's calls take and answer, and how it is described.
enum DreamFactoryJSON {
    private typealias Body = Endpoint.Answer.Body

    // MARK: Accounts

    /// Whose session it is.
    struct Account {
        let id: String
        let email: String?
        let firstName: String
        let lastName: String

        init(_ user: User) {
            (id, email, firstName, lastName) = (user.memberID, user.email, user.firstName, user.lastName)
        }

        init(_ member: Member) {
            (id, email, firstName, lastName) = (member.id, member.email, member.firstName, member.lastName)
        }
    }

    /// A session.
    ///
    /// There are no administrators, tickets and groups of applications here, but clients read them.
    static func response(_ account: Account, token: String) -> Response {
        Response.json { json in
            json.member("session_id", token)
            json.member("id", account.id)
            json.member("email", account.email)
            json.member("first_name", account.firstName)
            json.member("last_name", account.lastName)
            json.member(
                "display_name",
                [account.firstName, account.lastName].filter { !$0.isEmpty }.joined(separator: " ")
            )
            json.member("is_sys_admin", false)
            json.null("role")
            json.null("ticket")
            json.null("ticket_expiry")
            json.member("app_groups", .array([]))
            json.member("no_group_apps", .array([]))
        }.notStored()
    }

    private static let text: JSONValue = ["type": "string"]
    private static let sessionExample: JSONValue = [
        "session_id": "k3v8QJt5nWm2Yb7LhRs9DkPz4GfUu6Bo", "id": .string(Endpoint.Answer.Member.memberID),
        "email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace", "display_name": "Ada Lovelace",
        "is_sys_admin": false, "role": .null, "ticket": .null, "ticket_expiry": .null, "app_groups": [],
        "no_group_apps": [],
    ]
    private static let sessionSchema: JSONValue = [
        "type": "object", "required": JSONValue(sessionExample.names), "additionalProperties": false,
        "properties": [
            "session_id": [
                "type": "string", "description": "The token, for the header `X-DreamFactory-Session-Token`.",
            ],
            "id": ["type": "string", "description": "The user's id as a member."], "email": text, "first_name": text,
            "last_name": text, "display_name": text, "is_sys_admin": ["const": false], "role": ["type": "null"],
            "ticket": ["type": "null"], "ticket_expiry": ["type": "null"],
            "app_groups": ["type": "array", "maxItems": 0], "no_group_apps": ["type": "array", "maxItems": 0],
        ],
    ]
    private static let successExample: JSONValue = ["success": true]
    private static let successSchema: JSONValue = [
        "type": "object", "required": ["success"], "additionalProperties": false,
        "properties": ["success": ["const": true]],
    ]

    static let session = Endpoint.Answer.Body.json(schema: sessionSchema, example: sessionExample)
    static let success = Endpoint.Answer.Body.json(schema: successSchema, example: successExample)
    static let successOrSession = Endpoint.Answer.Body.json(
        schema: ["anyOf": [successSchema, sessionSchema]],
        example: successExample
    )

    static let registration = Endpoint.JSONBodyDescription(
        "The account.",
        schema: [
            "type": "object", "required": ["email"],
            "properties": [
                "email": text, "first_name": text, "last_name": text,
                "display_name": ["type": "string", "description": "The whole name, instead of first and last name."],
                "new_password": ["type": "string", "description": "The password."],
            ],
        ],
        example: [
            "email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace", "new_password": "a good password",
        ],
        validationErrors: [Endpoint.Parameter.email, .firstName, .lastName, .fullNameOrNames, .typedNewPassword]
            .flatMap(\.validationErrors)
    )
    static let credentials = Endpoint.JSONBodyDescription(
        "E-mail and password.",
        schema: [
            "type": "object", "required": ["email"],
            "properties": [
                "email": text, "password": text,
                "code": [
                    "type": "string", "description": "A code that was sent for `signin`, instead of the password.",
                ],
            ],
        ],
        example: ["email": "ada@example.com", "password": "a good password"]
    )

    // MARK: Records

    private static let idSchema: JSONValue = ["type": ["string", "integer"]]
    private static let rowSchema: JSONValue = [
        "type": "object", "required": ["id"],
        "properties": ["id": idSchema.with(["description": "A number where the collection's ids are numbers."])],
    ]
    private static let rowExample: JSONValue = ["id": 1, "title": "It does not start", "status": 1]
    private static let metaSchema: JSONValue = [
        "type": "object", "additionalProperties": false,
        "properties": [
            "count": ["type": "integer"],
            "next": ["type": "integer", "description": "The `offset` to go on with, if more records follow."],
            "limited": ["const": true, "description": "More records may follow, which no `offset` reaches."],
        ],
    ]

    private static func rows(_ more: OrderedDictionary<String, JSONValue> = [:]) -> JSONValue {
        [
            "type": "object", "required": ["record"], "additionalProperties": false,
            "properties": JSONValue.object(["record": ["type": "array", "items": rowSchema]]).with(more),
        ]
    }

    static let row = Endpoint.Answer.Body.json(schema: rowSchema, example: rowExample)
    static let rows = Endpoint.Answer.Body.json(schema: rows(), example: ["record": [rowExample]])
    static let rowOrRows = Endpoint.Answer.Body.json(
        schema: ["anyOf": [rowSchema, rows()]],
        example: ["record": [["id": 1]]]
    )
    static let list = Endpoint.Answer.Body.json(schema: rows(["meta": metaSchema]), example: ["record": [rowExample]])

    private static let sentRow: JSONValue = ["type": "object"]
    static let sent = Endpoint.JSONBodyDescription(
        "A record, or up to \(RecordLimits.maxBatchCount) of them in `record`.",
        schema: [
            "anyOf": [
                [
                    "type": "object", "required": ["record"],
                    "properties": [
                        "record": [
                            "type": "array", "items": sentRow, "maxItems": JSONValue(RecordLimits.maxBatchCount),
                        ]
                    ],
                ],
                sentRow,
            ]
        ],
        example: ["record": [["title": "It does not start", "status": 1]]]
    )
}

extension JSONValue {
    /// The names of an object's members.
    fileprivate var names: [String] { if case .object(let members) = self { Array(members.keys) } else { [] } }
}
