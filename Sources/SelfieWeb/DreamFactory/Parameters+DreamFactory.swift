import RecordSchema
import SelfieAccounts
import SelfieRecords

/// The parameters of DreamFactory's calls.
extension Endpoint.Parameter {
    static let table = Self("table", .id, in: .path, "The collection's name.", example: "bugs")
    static let rowID = Self("id", .id, in: .path, "The record's id.", example: "1")
    static let rowIDs = Self(
        "ids",
        .text(maxCharacters: nil),
        in: .query,
        "The records' ids, comma-separated: at most \(RecordLimits.maxPageCount), or \(RecordLimits.maxBatchCount) in a change.",
        example: "1,2",
        isRequired: false,
        valid: "1 to \(RecordLimits.maxPageCount) comma-separated ids, or \(RecordLimits.maxBatchCount) in a change"
    )
    static let rowFilter = Self(
        "filter",
        .text(maxCharacters: DreamFactoryFilter.maxCharacters),
        in: .query,
        """
        Conditions on indexed fields, joined by `AND`: `=`, `>`, `>=`, `<`, `<=`, `IN (1,2)`, `LIKE 'beginning%'`, `IS NULL`. \
        Or only `id = 1` or `id IN (1,2)`.
        """,
        example: "status = 1 AND points >= 3",
        isRequired: false,
        valid: "conditions on indexed fields, joined by AND"
    )
    static let rowLimit = Self(
        "limit",
        .integer(0...1_000_000),
        in: .query,
        """
        The most records; 0 for as many as possible. There are never more than \(DreamFactoryCall.maxLimit), or \(DreamFactoryCall.maxLimitWithMany) if \
        `related` asks for what refers to them.
        """,
        example: "50",
        isRequired: false
    )
    static let rowOffset = Self(
        "offset",
        .integer(0...RecordQuery.maxLookedAtCount),
        in: .query,
        "How many records of the list are skipped.",
        example: "50",
        isRequired: false
    )
    static let rowOrder = Self(
        "order",
        .text(maxCharacters: 200),
        in: .query,
        "An indexed field, or `id`, and `ASC` or `DESC`.",
        example: "points DESC",
        isRequired: false,
        valid: "one indexed field or id, and ASC or DESC"
    )
    static let rowFields = Self(
        "fields",
        .text(maxCharacters: 4_096),
        in: .query,
        "The fields of the answer, comma-separated; `*` for all. The id is always there.",
        example: "title,status",
        isRequired: false
    )
    static let related = Self(
        "related",
        .text(maxCharacters: 4_096),
        in: .query,
        """
        Relations, comma-separated: `priority_by_priority` for the record that a field refers to, `comments_by_bug` for the records \
        of another collection that refer to this one by an indexed field. `*` for all.
        """,
        example: "priority_by_priority",
        isRequired: false,
        valid: "relations such as priority_by_priority, or *"
    )
    static let countsRows = Self(
        "include_count",
        .flag,
        in: .query,
        "Whether `meta.count` is the number of all records of the list, at most \(RecordQuery.maxLookedAtCount).",
        example: "true",
        isRequired: false
    )
    static let answerFormat = Self(
        "format",
        .text(maxCharacters: 20),
        in: .query,
        "Only `json`.",
        example: "json",
        isRequired: false,
        valid: "json"
    )
    static let idField = Self(
        "id_field",
        .text(maxCharacters: 100),
        in: .query,
        "Only `id`.",
        example: "id",
        isRequired: false,
        valid: "id"
    )
    static let continues = Self(
        "continue",
        .flag,
        in: .query,
        "Only `false`: all records of a call are changed, or none.",
        example: "false",
        isRequired: false,
        valid: "false: all records of a call are changed, or none"
    )
    /// The name of the application, which is no secret.
    static let applicationName = Self(
        "app_name",
        .line(maxCharacters: 255),
        in: .query,
        "The application's name, instead of the header `X-DreamFactory-Application-Name`.",
        example: "bugs",
        isRequired: false
    )
    /// The whole name of a new account without a first and a last name.
    static let displayName = Self(
        "display_name",
        .text(maxCharacters: ValidationError.maxCharacters),
        "The whole name. It is ignored if `first_name` and `last_name` are sent.",
        example: "Ada Lovelace",
        isRequired: false
    )
    static let login = Self(
        "login",
        .flag,
        in: .query,
        "Whether a session begins at once.",
        example: "true",
        isRequired: false
    )
}
