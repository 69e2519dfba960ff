import ArgumentParser
import SelfieAccounts
import SelfieOperations

struct UserSessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List a user's sessions, newest first.",
        discussion: "Expired sessions are listed, too. They are removed after a week."
    )

    @OptionGroup var argument: UserArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let sessions = try await Administration.run { try await $0.sessions(of: argument.user) }
        try output.print(sessions) {
            let rows = sessions.map { session in
                [
                    "\(session.id)", Cell.date(session.createdAt), Cell.date(session.lastUsedAt),
                    Cell.date(session.expiresAt), Cell.text(session.device),
                ]
            }
            return TextTable.text([["ID", "CREATED", "LAST USED", "EXPIRES", "DEVICE"]] + rows, rightAligned: [0])
        }
    }
}

struct UserAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List the events of accounts, newest first."
    )

    @Argument(help: "The user's id, e-mail or member id; all users by default. An id may be that of a deleted user.")
    var user: UserSelector?

    @Option(help: "Begin with the event before this id.")
    var before: Int?

    @Option(help: "The most events to list, at most \(maxLimit).")
    var limit = 100

    @OptionGroup var output: OutputOptions

    private static let maxLimit = 100_000

    func validate() throws {
        guard (1...Self.maxLimit).contains(limit) else {
            throw ValidationError("--limit must be a whole number from 1 to \(Self.maxLimit).")
        }
        guard before ?? 1 > 0 else { throw ValidationError("--before must be more than 0.") }
    }

    func run() async throws {
        let events = try await Administration.run {
            try await $0.audit(of: user, before: before ?? .max, limit: limit)
        }
        try output.print(events) {
            let rows = events.map { event in
                [
                    "\(event.id)", Cell.time(event.happenedAt),
                    event.count > 1 ? "\(event.event) ×\(event.count)" : event.event,
                    event.userID.map { "\($0)" } ?? "", event.actorID.map { "\($0)" } ?? "", event.role ?? "",
                    event.address ?? "", Cell.text(event.requestID),
                ]
            }
            return TextTable.text(
                [["ID", "WHEN", "EVENT", "USER", "BY", "ROLE", "ADDRESS", "REQUEST"]] + rows,
                rightAligned: [0, 3, 4]
            )
        }
        if events.count == limit, let last = events.last {
            StandardError.write("There may be more: --before \(last.id)\n")
        }
    }
}
