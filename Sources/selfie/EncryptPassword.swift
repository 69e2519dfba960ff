import AESCrypt
import ArgumentParser
import SelfieConfiguration

struct EncryptPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt-password",
        abstract: "Encrypt a password as the API takes it.",
        discussion: """
            Reads the password from the first line of standard input, and prints its AESCrypt form for calls with \
            curl. The key is API_AUTH_PASSWORD.
            """
    )

    func run() async throws {
        let passphrase = try ServiceConfiguration.apiPassword(from: try await ConfigurationSource())
        guard let password = readLine(strippingNewline: true) else {
            throw ValidationError("There is no password on standard input.")
        }
        print(try AESCrypt(passphrase: passphrase).encrypt(Array(password.utf8)))
    }
}
