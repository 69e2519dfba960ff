import ArgumentParser
import JSON
import SelfieAccounts
import SelfieOperations
import SelfieRecords

struct Changes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read the changes that users can see.",
        subcommands: [FollowUserChanges.self]
    )
}

struct FollowUserChanges: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print what changes for a user, as it happens.",
        discussion: """
            Each line has the change, the collection, the id, the record's version and the cursor. The contents are \
            not printed. Only DATABASE_URL is needed. The service need not be running. Ctrl-C ends it.
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(help: "Start after this cursor, or at `now`. Without it, everything that the user can see comes first.")
    var since: ChangeQuery.Start = .beginning

    @Option(help: "Only these collections, with commas between them; photos for photos.")
    var collections: String?

    @Flag(help: "Print the present state, then end.")
    var once = false

    @Flag(name: .customLong("json"), help: "Print a line of JSON for each change.")
    var isJSON = false

    private var names: [String]? {
        collections?.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }

    func validate() throws {
        if names?.contains("") == true {
            throw ValidationError("--collections must name collections, with commas between them.")
        }
    }

    func run() async throws {
        let query = ChangeQuery(collections: names.map(Set.init))
        do {
            try await Administration.run { users in
                try await users.followChanges(of: argument.user, query, from: since) { event in
                    for line in isJSON ? event.lines.map(\.json) : event.lines.map(\.text) { print(line) }
                    // A reader at the other end of a pipe waits for it.
                    try StandardOutput.finish()
                    if case .reset(let reset) = event {
                        StandardError.write(
                            "This cursor no longer works (\(reset.rawValue)). Start again without --since.\n"
                        )
                        throw ExitCode.failure
                    }
                    if case .synced = event { return !once }
                    return true
                }
            }
        } catch is RecordRefusal {
            throw ValidationError("There is no such collection. selfie schema show lists them.")
        }
    }
}

/// The line that is printed for an event.
private struct ChangeLine {
    let kind: String
    var collection: String?
    var id: String?
    var version: Int?
    let cursor: String

    var text: String {
        let cells = [kind, collection, id.map(Cell.text), version.map { "version \($0)" }, cursor]
        return cells.compactMap(\.self).joined(separator: "  ")
    }

    var json: String {
        var json = JSONWriter()
        json.object { json in
            json.member("type", kind)
            if let collection { json.member("collection", collection) }
            if let id { json.member("id", id) }
            if let version { json.member("version", version) }
            json.member("cursor", cursor)
        }
        return json.string
    }
}

extension ChangeFollower.Event {
    fileprivate var lines: [ChangeLine] {
        switch self {
        case .changes(let batch):
            zip(batch.changes, batch.cursors).map { change, cursor in
                ChangeLine(
                    kind: change.kind.rawValue,
                    collection: change.collection,
                    id: change.id,
                    version: change.version,
                    cursor: cursor.text
                )
            }
        case .synced(let cursor): [ChangeLine(kind: "synced", cursor: cursor.text)]
        case .cursor(let cursor): [ChangeLine(kind: "cursor", cursor: cursor.text)]
        case .nothing, .reset, .end: []
        }
    }
}

extension ChangeQuery.Start: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }

    public var defaultValueDescription: String { "the beginning" }
}
