import RecordSchema
import SelfieCore

/// The parameters of calls about records.
extension Endpoint.Parameter {
    static let collection = Self("collection", .id, in: .path, "The collection's name.", example: "houses")
    static let recordID = Self("id", .id, in: .path, "The record's id.", example: "house-1")
    static let `where` = Self(
        "where",
        .text(maxCharacters: 4_096),
        in: .query,
        "A JSON object: fields with an index, and the values that they must have. `null` is for missing ones, too.",
        example: #"{"address":"12 Rose Street"}"#,
        isRequired: false,
        valid: "a JSON object with at most \(Schema.maxIndexCount) fields and their values, each no array and no object"
    )
    static let recordIDs = Self(
        "ids",
        .text(maxCharacters: nil),
        in: .query,
        "The ids of the records, with commas between them, at most \(RecordLimits.maxPageCount). Not with `where`.",
        example: "house-1,house-2",
        isRequired: false,
        valid: "1 to \(RecordLimits.maxPageCount) ids with commas between them"
    )
    static let deletedIDs = Self(
        "ids",
        .text(maxCharacters: nil),
        in: .query,
        "The ids of the records, with commas between them, at most \(RecordLimits.maxBatchCount).",
        example: "house-1,house-2",
        valid: "1 to \(RecordLimits.maxBatchCount) ids with commas between them"
    )
    static let recordAfter = Self(
        "after",
        .text(maxCharacters: nil),
        in: .query,
        "The record after which the list begins: `next` of the page before, or an id.",
        example: "house-1,1795514400000000",
        isRequired: false,
        valid: "next of the page before, or the id of a record in the list"
    )
    static let recordOrder = Self(
        "order",
        .word(RecordQuery.Order.allCases.map(\.rawValue)),
        in: .query,
        "The order by the time of creation; `-created` has the newest first.",
        example: "-created",
        isRequired: false
    )
    static let recordLimit = Self(
        "limit",
        .integer(1...RecordLimits.maxPageCount),
        in: .query,
        "The most records of the page; \(RecordQuery.usualLimit) where it is missing.",
        example: "50",
        isRequired: false
    )
    static let include = Self(
        "include",
        .text(maxCharacters: 1_024),
        in: .query,
        """
        Fields that are references, with commas between them, at most \(RecordQuery.maxIncludeCount). What they refer to is \
        in `included`.
        """,
        example: "priority",
        isRequired: false,
        valid: "at most \(RecordQuery.maxIncludeCount) fields with commas between them"
    )
}
