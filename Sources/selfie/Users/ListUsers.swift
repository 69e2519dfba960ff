import ArgumentParser
import SelfieAccounts
import SelfieOperations

struct ListUsers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List users in the order of their ids."
    )

    @Option(help: "Only users whose e-mail or name contains this text.")
    var matching: String?

    @Option(help: "Start after this id.")
    var after = 0

    @Option(help: "The most users to list, at most \(maxLimit).")
    var limit = 100

    @OptionGroup var output: OutputOptions

    private static let maxLimit = 10_000

    func validate() throws {
        guard (1...Self.maxLimit).contains(limit) else {
            throw ValidationError("--limit must be a whole number from 1 to \(Self.maxLimit).")
        }
        guard after >= 0 else { throw ValidationError("--after must be 0 or more.") }
    }

    func run() async throws {
        let users = try await Administration.run {
            try await $0.list(matching: matching, after: after, limit: limit)
        }
        try output.print(users) {
            let rows = users.map { user in
                [
                    "\(user.id)", Cell.text(user.email), Cell.text("\(user.firstName) \(user.lastName)"),
                    Cell.date(user.createdAt), user.disabledAt == nil ? "" : "disabled", "\(user.photoCount)",
                    "\(user.sessionCount)",
                ]
            }
            let heading = ["ID", "E-MAIL", "NAME", "CREATED", "", "PHOTOS", "SESSIONS"]
            return TextTable.text([heading] + rows, rightAligned: [0, 5, 6])
        }
        if users.count == limit, let last = users.last {
            StandardError.write("There may be more: --after \(last.id)\n")
        }
    }
}

struct ShowUser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one user.")

    @OptionGroup var argument: UserArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let user = try await Administration.run { try await $0.find(argument.user) }
        try output.print(user) {
            TextTable.text([
                ["id", "\(user.id)"],
                ["member id", user.memberId],
                ["e-mail", "\(Cell.text(user.email)) (\(user.emailState.rawValue))"],
                ["first name", Cell.text(user.firstName)],
                ["last name", Cell.text(user.lastName)],
                ["title", Cell.text(user.title)],
                ["created", Cell.date(user.createdAt)],
                ["disabled", user.disabledAt.map { Cell.date($0) } ?? "no"],
                ["photos", "\(user.photoCount)"],
                ["records", "\(user.recordCount)"],
                ["sessions", "\(user.sessionCount)"],
            ])
        }
    }
}
