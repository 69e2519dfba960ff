import JSON
import SelfieRecords

/// Changes as JSON Schema describes them.
enum ChangeJSONSchema {
    private static let change: JSONValue = [
        "type": "object", "required": ["type", "collection", "id"], "additionalProperties": false,
        "properties": [
            "type": ["enum": JSONValue(ChangeKind.allCases.map(\.rawValue))],
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
            "changes": [["type": "deleted", "collection": "houses", "id": "house-1"]], "cursor": "AwEAAAAAAA",
            "more": false,
        ]
    )
}
