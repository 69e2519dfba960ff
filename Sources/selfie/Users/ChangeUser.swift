import ArgumentParser
import Encodings
import SelfieOperations

struct DisableUser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disable an account.",
        discussion: """
            Its tokens and its photos' URLs stop working at once. Nobody can sign in to it until it is enabled again.
            """
    )

    @OptionGroup var argument: UserArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await argument.change(output, "is disabled now.", otherwise: "was disabled already.") { users, user in
            try await users.disable(user)
        }
    }
}

struct EnableUser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Enable a disabled account.",
        discussion: "Its user must sign in again."
    )

    @OptionGroup var argument: UserArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await argument.change(output, "is enabled now.", otherwise: "was not disabled.") { users, user in
            try await users.enable(user)
        }
    }
}

struct DeleteUser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an account with its sessions and photos.",
        discussion: """
            The service deletes the photos' objects within seconds; so does selfie photos reconcile. The account's \
            events stay in the audit, with only its id.
            """
    )

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var argument: UserArgument
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try Confirmation.validate(yes: yes)
    }

    func run() async throws {
        let user = try await Administration.run { users in
            let user = try await users.find(argument.user)
            guard yes || Confirmation.ask(question(about: user)) else {
                StandardError.write("Nothing was deleted.\n")
                throw ExitCode.failure
            }
            try await users.delete(.id(user.id))
            return user
        }
        try output.print(UserOutcome(userId: user.id, isChanged: true)) {
            "\(Cell.text(user.email)) (\(user.id)) is deleted, with \(counted(user.photoCount, "photo"))."
        }
    }

    private func question(about user: UserSummary) -> String {
        "Delete \(Cell.text(user.email)) (\(user.id)) and \(counted(user.photoCount, "photo")) for ever?"
    }
}

extension UserArgument {
    /// Changes the account, and prints the outcome.
    fileprivate func change(
        _ output: OutputOptions,
        _ text: String,
        otherwise unchangedText: String,
        _ change: (Administration, UserSelector) async throws -> Bool
    ) async throws {
        let (found, isChanged) = try await Administration.run { users in
            let found = try await users.find(user)
            return (found, try await change(users, .id(found.id)))
        }
        try output.print(UserOutcome(userId: found.id, isChanged: isChanged)) {
            "\(Cell.text(found.email)) (\(found.id)) \(isChanged ? text : unchangedText)"
        }
    }
}
