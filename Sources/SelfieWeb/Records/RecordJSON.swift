import JSON
import OrderedCollections
import RecordSchema
import SelfieRecords

/// Records as JSON Schema describes them.
enum RecordJSON {
    static let id: JSONValue = ["type": "string", "pattern": .string(RecordID.pattern)]
    private static let members: JSONValue = [
        "type": "array", "items": ["type": "string"], "maxItems": JSONValue(RecordLimits.maxReaderCount),
    ]
    private static let url: JSONValue = ["type": "string", "format": "uri"]
    /// Of a field that is an array, by the ids of photos.
    private static let urls: JSONValue = ["type": "object", "additionalProperties": url]
    private static let time: JSONValue = ["type": "string", "format": "date-time"]
    private static let timeOrNull: JSONValue = ["type": ["string", "null"], "format": "date-time"]

    /// The schema of `data` in any collection.
    static let anyData: JSONValue = ["type": "object"]
    private static let dataExample: JSONValue = ["address": "12 Rose Street", "comment": "nice garden"]

    static let newExample: JSONValue = ["id": "house-1", "data": dataExample]

    /// A new record as a client sends it.
    static let new = new(data: anyData)

    /// The same for a collection whose data is described.
    static func new(data: JSONValue) -> JSONValue {
        [
            "type": "object", "required": ["data"], "properties": sent(data: data), "additionalProperties": false,
        ]
    }

    /// A record as a client sends it with the id in the path.
    static func put(data: JSONValue = anyData) -> JSONValue {
        ["type": "object", "required": ["data"], "properties": content(data: data), "additionalProperties": false]
    }

    /// A change as a client sends it.
    static func change(isOfMany: Bool, data: JSONValue = anyData) -> JSONValue {
        [
            "type": "object", "required": isOfMany ? ["id"] : [],
            "properties": isOfMany ? sent(data: data) : content(data: data), "additionalProperties": false,
        ]
    }

    private static func sent(data: JSONValue) -> JSONValue {
        content(data: data).with(["id": id])
    }

    private static func content(data: JSONValue) -> JSONValue {
        ["data": data, "readers": members, "writers": members, "expires_at": timeOrNull]
    }

    /// An array of a call.
    static func many(_ element: JSONValue) -> JSONValue {
        ["type": "array", "items": element, "maxItems": JSONValue(RecordLimits.maxBatchCount)]
    }

    // MARK: Answers

    static let record: JSONValue = record()

    private static func record(with more: OrderedDictionary<String, JSONValue> = [:]) -> JSONValue {
        [
            "type": "object",
            "required": [
                "id", "collection", "data", "owner", "version", "created_at", "updated_at", "expires_at", "photos",
            ],
            "additionalProperties": false,
            "properties": JSONValue.object([
                "id": id, "collection": ["type": "string"], "data": anyData, "owner": ["type": "string"],
                "readers": members, "writers": members, "version": ["type": "integer", "minimum": 1],
                "created_at": time, "updated_at": time, "expires_at": timeOrNull,
                "photos": ["type": "object", "additionalProperties": ["anyOf": [url, urls]]],
            ]).with(more),
        ]
    }
    static let recordExample: JSONValue = [
        "id": "house-1", "collection": "houses", "data": dataExample, "owner": "5f0c2a9e4b7d41c8a3e6f1b20d9c8e75",
        "version": 1, "created_at": "2026-11-24T10:00:00.000Z", "updated_at": "2026-11-24T10:00:00.000Z",
        "expires_at": .null, "photos": [:],
    ]

    static let one = Endpoint.Answer.Body.json(schema: record, example: recordExample)
    static let oneIncluding = Endpoint.Answer.Body.json(
        schema: record(with: ["included": ["type": "array", "items": record]]),
        example: recordExample
    )
    static let array = Endpoint.Answer.Body.json(
        schema: ["type": "array", "items": record],
        example: [recordExample]
    )
    static let oneOrMany = Endpoint.Answer.Body.json(
        schema: ["anyOf": [record, ["type": "array", "items": record]]],
        example: recordExample
    )
    static let page = Endpoint.Answer.Body.json(
        schema: [
            "type": "object", "required": ["records", "included", "next"], "additionalProperties": false,
            "properties": [
                "records": ["type": "array", "items": record], "included": ["type": "array", "items": record],
                "next": ["type": ["string", "null"]],
                "limited": [
                    "type": "boolean",
                    "description": .string(
                        "The page ended after \(RecordQuery.maxLookedAtCount) records, most of which did not match `where`."
                    ),
                ],
                "count": [
                    "type": "integer", "minimum": 0,
                    "description": .string("At most \(RecordQuery.maxLookedAtCount)."),
                ],
                "count_limited": ["type": "boolean", "description": "There may be more records than were counted."],
            ],
        ],
        example: ["records": [recordExample], "included": [], "next": .null]
    )
    static let deleted = Endpoint.Answer.Body.json(
        schema: [
            "type": "object", "required": ["deleted"], "additionalProperties": false,
            "properties": ["deleted": ["type": "integer", "minimum": 1]],
        ],
        example: ["deleted": 1]
    )
}
