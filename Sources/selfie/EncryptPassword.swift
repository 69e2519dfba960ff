import AESCrypt
import ArgumentParser
import SelfieConfiguration

struct EncryptPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt-password",
        abstract: "Encrypt a password as the API takes it.",
        discussion: """
            Asks for the password on a terminal, without showing it. Otherwise it reads the first line of standard \
            input. It prints the password's AESCrypt form, for calls with curl. The key is API_AUTH_PASSWORD.
            """
    )

    func run() async throws {
        let passphrase = try ConfigurationSource().read { $0.apiPassword() }
        guard let password = HiddenLine.isPossible ? HiddenLine.ask("Password: ") : readLine() else {
            throw ValidationError("There is no password on standard input.")
        }
        print(try AESCrypt(passphrase: passphrase).encrypt(Array(password.utf8)))
    }
}
