import ArgumentParser
import Cryptography
import Encodings
import SelfieAccounts
import SelfieConfiguration
import SelfieOperations

struct UserPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Give a user a new password.",
        discussion: """
            On a terminal, it asks for the new password twice, without showing it. Otherwise it reads the first line \
            of standard input. All sessions and all URLs of photos end. Make sure first that it is the user who asks.
            """
    )

    @Flag(help: "Generate a password, and print it.")
    var generate = false

    @OptionGroup var argument: UserArgument
    @OptionGroup var output: OutputOptions

    private static let generatedLength = 20

    func run() async throws {
        let cost = try ConfigurationSource.ofThisCommand().read { $0.passwordHashCost() }
        let (user, password) = try await Administration.run { users in
            let user = try await users.find(argument.user)
            let password = generate ? RandomIdentifier.makeSecret(length: Self.generatedLength) : try Self.ask()
            try await users.setPassword(of: .id(user.id), to: Password(password), cost: cost)
            return (user, password)
        }
        try output.print(Outcome(userId: user.id, password: generate ? password : nil)) {
            var line = "\(Cell.text(user.email)) (\(user.id)) has a new password. All sessions have ended."
            if user.disabledAt != nil {
                line += " The account is disabled: run selfie users enable before the user can sign in."
            }
            return generate ? "\(line)\n\(password)" : line
        }
    }

    private static func ask() throws -> String {
        guard HiddenLine.isPossible else {
            guard let password = readLine() else { throw UserInputError.noPassword }
            return password
        }
        guard let password = HiddenLine.ask("New password: "), let again = HiddenLine.ask("Again: ") else {
            throw UserInputError.noPassword
        }
        guard password.utf8.elementsEqual(again.utf8) else { throw UserInputError.passwordsDiffer }
        return password
    }

    private struct Outcome: Encodable {
        let userId: Int
        @Nullable var password: String?
    }
}

struct UserEmail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "email",
        abstract: "Give a user another e-mail address.",
        discussion: "Sessions stay valid. Make sure first that the user receives mail there."
    )

    @OptionGroup var argument: UserArgument

    @Argument(help: "The new e-mail.")
    var email: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let user = try await Administration.run { users in
            let user = try await users.find(argument.user)
            try await users.changeEmail(of: .id(user.id), to: email)
            return try await users.find(.id(user.id))
        }
        try output.print(UserOutcome(userId: user.id, isChanged: true)) {
            "The user \(user.id) has the e-mail \(Cell.text(user.email)) now."
        }
    }
}

/// The input can't be used.
private enum UserInputError: Error, CustomStringConvertible {
    case noPassword
    case passwordsDiffer

    var description: String {
        switch self {
        case .noPassword: "There is no password on standard input."
        case .passwordsDiffer: "The two passwords differ. Nothing was changed."
        }
    }
}
