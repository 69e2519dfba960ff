import SelfieRecords

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
        example: "AwEAAAAAAA"
    )
    static let acceptEvents = Self(
        name: "Accept",
        summary: "`text/event-stream` for events.",
        example: "text/event-stream"
    )
}
