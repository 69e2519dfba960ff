import SelfieCore

extension Endpoint.Parameter {
    private static let cursorMaxCharacters = 8_192

    static let since = Self(
        "since",
        .text(maxCharacters: cursorMaxCharacters),
        in: .query,
        "The `cursor` of the answer before, or `now`. Without it, all that the user sees comes first.",
        example: "now",
        isRequired: false,
        refusedFor: [.invalid, .tooLong(maxCharacters: cursorMaxCharacters)],
        valid: "now, or the cursor of an answer"
    )
    static let changedCollections = Self(
        "collections",
        .text(maxCharacters: nil),
        in: .query,
        "The collections whose changes are wanted, with commas between them; `photos` for photos. Missing means all.",
        example: "photos",
        isRequired: false,
        refusedFor: [.invalid],
        valid: "1 to \(ChangeQuery.maxCollectionCount) collections with commas between them"
    )
    static let changeLimit = Self(
        "limit",
        .integer(1...ChangeQuery.maxLimit),
        in: .query,
        "The most changes of a page. Without it, a page has \(ChangeQuery.usualLimit).",
        example: "100",
        isRequired: false,
        refusedFor: [.invalid]
    )
    static let wait = Self(
        "wait",
        .integer(0...25),
        in: .query,
        "For how many seconds the answer may wait for a change.",
        example: "25",
        isRequired: false,
        refusedFor: [.invalid]
    )
}

extension Endpoint.Header {
    static let lastEventID = Self(
        name: "Last-Event-ID",
        summary: "With events: the `id` of the last one that the client has got. It counts more than `since`.",
        example: "AwEAAAAAAA"
    )
    static let acceptEvents = Self(
        name: "Accept",
        summary: "`text/event-stream` for events.",
        example: "text/event-stream"
    )
}
