import HTTPTypes
import JSON
import SelfieAccounts
import SelfieRecords

/// Changes as JSON Schema describes them.
enum ChangeJSON {
    private static let change: JSONValue = [
        "type": "object", "required": ["type", "collection", "id"], "additionalProperties": false,
        "properties": [
            "type": ["enum": JSONValue(Change.Kind.allCases.map(\.rawValue))],
            "collection": ["type": "string", "description": "The collection's name; `photos` for photos."],
            "id": ["type": "string", "description": "The record's id, or the photo's `random_id`."],
            "record": RecordJSON.record,
            "photo": Endpoint.Answer.Body.schema(of: Endpoint.Answer.Member.photo),
        ],
    ]

    /// A page, or events whose data is a change.
    static let page = Endpoint.Answer.Body.jsonOrEvents(
        schema: [
            "type": "object", "required": ["changes", "cursor", "more"], "additionalProperties": false,
            "properties": [
                "changes": ["type": "array", "items": change],
                "cursor": ["type": "string", "description": "The `since` of the next call."],
                "more": ["type": "boolean", "description": "Whether more changes can be read at once."],
            ],
        ],
        example: [
            "changes": [["type": "deleted", "collection": "houses", "id": "house-1"]], "cursor": "AgEAAAA",
            "more": false,
        ]
    )
}

extension Endpoint.Parameter {
    private static let cursorMaxCharacters = 8_192

    static let since = Self(
        "since",
        .text(maxCharacters: cursorMaxCharacters),
        in: .query,
        "The `cursor` of the previous answer, or `now`. Without it, the first page starts with everything the user can see.",
        example: "now",
        isRequired: false,
        valid: "now, or the cursor of an answer"
    )
    static let changedCollections = Self(
        "collections",
        .text(maxCharacters: nil),
        in: .query,
        "Collections, comma-separated; `photos` for photos. Without it, changes of all collections.",
        example: "photos",
        isRequired: false,
        valid: "1 to \(ChangeQuery.maxCollectionCount) comma-separated collections"
    )
    static let changeLimit = Self(
        "limit",
        .integer(1...ChangeQuery.maxLimit),
        in: .query,
        "The maximum number of changes of a page. Defaults to \(ChangeQuery.usualLimit).",
        example: "100",
        isRequired: false
    )
    static let wait = Self(
        "wait",
        .integer(0...25),
        in: .query,
        "How many seconds the answer may wait for a change.",
        example: "25",
        isRequired: false
    )
}

extension Endpoint.Header {
    static let lastEventID = Self(
        name: "Last-Event-ID",
        summary: "For events: the `id` of the last event received. It takes precedence over `since`.",
        example: "AgEAAAA"
    )
    static let acceptEvents = Self(
        name: "Accept",
        summary: "`text/event-stream` for events.",
        example: "text/event-stream"
    )
}

extension ServiceError {
    /// The client must begin again, without `since`.
    init(_ reset: ChangeReset) {
        let reason =
            switch reset {
            case .database: "The database may have lost changes"
            case .forgotten: "The cursor is too old"
            case .access: "You can see less than before"
            case .collections: "The cursor is for other collections"
            }
        self.init(
            status: .gone,
            code: "changes_\(reset.rawValue)",
            message: "\(reason). Begin again without a cursor"
        )
    }
}
