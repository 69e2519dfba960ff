import ArgumentParser
import SelfieConfiguration
import SelfieOperations

struct Users: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage accounts.",
        discussion:
            """
            A user is named by id, e-mail or member id. Only DATABASE_URL is needed, but export also needs the store. The \
            service need not be running.
            """,
        subcommands: [
            ListUsers.self, ShowUser.self, DisableUser.self, EnableUser.self, UserPassword.self, UserEmail.self,
            UserQuota.self, ExportUser.self, DeleteUser.self, UserSessions.self, UserAudit.self,
        ]
    )
}

/// The user that a command is about.
struct UserArgument: ParsableArguments {
    @Argument(help: "The user's id, e-mail or member id.")
    var user: UserSelector
}

extension UserSelector: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

/// The outcome of a change.
struct UserOutcome: Encodable {
    let userId: Int
    /// Whether anything was changed.
    let isChanged: Bool
}
