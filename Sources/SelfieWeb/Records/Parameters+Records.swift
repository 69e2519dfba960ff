import RecordSchema
import SelfieRecords

/// The parameters of calls about records.
extension Endpoint.Parameter {
    static let collection = Self("collection", .id, in: .path, "The collection's name.", example: "houses")
    static let recordID = Self("id", .id, in: .path, "The record's id.", example: "house-1")
    static let `where` = Self(
        "where",
        .text(maxCharacters: 4_096),
        in: .query,
        """
        A JSON object: indexed fields, and what they must have. That is a value, or an object with `=`, `>`, `>=`, `<`, `<=`, \
        `in` (an array of at most \(FieldCondition.maxValueCount) values) or `prefix`. `null` also finds missing values.
        """,
        example: #"{"address":"12 Rose Street"}"#,
        isRequired: false,
        valid: "a JSON object with at most \(Schema.maxIndexCount) fields, and what each must have"
    )
    static let recordIDs = Self(
        "ids",
        .text(maxCharacters: nil),
        in: .query,
        "The records' ids, comma-separated, at most \(RecordLimits.maxPageCount). Not together with `where`.",
        example: "house-1,house-2",
        isRequired: false,
        valid: "1 to \(RecordLimits.maxPageCount) comma-separated ids"
    )
    static let deletedIDs = Self(
        "ids",
        .text(maxCharacters: nil),
        in: .query,
        "The records' ids, comma-separated, at most \(RecordLimits.maxBatchCount).",
        example: "house-1,house-2",
        valid: "1 to \(RecordLimits.maxBatchCount) comma-separated ids"
    )
    static let recordAfter = Self(
        "after",
        .text(maxCharacters: nil),
        in: .query,
        "The record after which the page starts: the `next` of the previous page, or an id.",
        example: "house-1,1795514400000000",
        isRequired: false,
        valid: "next of the previous page, or the id of a record in the list"
    )
    static let recordOrder = Self(
        "order",
        .text(maxCharacters: nil),
        in: .query,
        """
        `created`, or an indexed field, or `created_at` or `updated_at` if the collection has an index of it. With `-` before \
        it, the newest or greatest comes first.
        """,
        example: "-created",
        isRequired: false,
        valid: "created or an index, with or without -"
    )
    static let countsRecords = Self(
        "count",
        .flag,
        in: .query,
        "Whether all records of the list are counted, at most \(RecordQuery.maxLookedAtCount).",
        example: "true",
        isRequired: false
    )
    static let recordLimit = Self(
        "limit",
        .integer(1...RecordLimits.maxPageCount),
        in: .query,
        "The maximum number of records of a page. Defaults to \(RecordQuery.usualLimit).",
        example: "50",
        isRequired: false
    )
    static let include = Self(
        "include",
        .text(maxCharacters: 1_024),
        in: .query,
        """
        Reference fields, comma-separated, at most \(RecordQuery.maxIncludeCount). The records that they refer to are in \
        `included`.
        """,
        example: "priority",
        isRequired: false,
        valid: "at most \(RecordQuery.maxIncludeCount) comma-separated fields"
    )
}
