import AESCrypt
import Foundation
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie encrypt-password")
struct EncryptPasswordTests {
    private func encrypt(
        _ input: String,
        environment: [String: String] = ["API_AUTH_PASSWORD": TestService.apiPassword]
    ) async throws -> ProgramOutcome {
        try await TemporaryFolder.with { folder in
            try await SelfieProcess.run(["encrypt-password"], environment: environment, directory: folder, input: input)
        }
    }

    @Test(
        "What it prints is the first line, encrypted as clients do",
        arguments: [
            ("my password\n", "my password"), ("no line end", "no line end"), (" spaces \n", " spaces "),
            ("Äpfel 😀\n", "Äpfel 😀"), ("first\nsecond\n", "first"), ("windows\r\n", "windows"),
            (String(repeating: "x", count: 72), String(repeating: "x", count: 72)),
        ]
    )
    func roundTrip(input: String, password: String) async throws {
        let outcome = try await encrypt(input)
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        let text = try #require(outcome.output.split(separator: "\n").first)
        #expect(outcome.output == text + "\n")
        let decrypted = try AESCrypt(passphrase: TestService.apiPassword).decrypt(String(text))
        #expect(String(decoding: decrypted, as: UTF8.self) == password)
    }

    @Test("The published vector comes out to the letter")
    func vector() async throws {
        let outcome = try await encrypt("top secret message")
        #expect(outcome.output == "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk=\n")
    }

    @Test("On a terminal it asks, and what is typed is not shown")
    func terminal() async throws {
        let outcome = try await TerminalProcess.run(
            ["encrypt-password"],
            environment: ["API_AUTH_PASSWORD": TestService.apiPassword],
            typing: "top secret message",
            after: "Password: "
        )
        #expect(outcome.status == 0)
        #expect(outcome.errors == "Password: \n")
        #expect(outcome.output == "EQyz+ukU+ss+Sinf15bApdYj5ANrRwY632v8EhrzLPk=\n")
        #expect(!outcome.echo.contains("secret"))
    }

    @Test(
        "A terminal shows what is typed again when the program is ended",
        arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    )
    func ended(signal: Int32) async throws {
        let outcome = try await TerminalProcess.run(
            ["encrypt-password"],
            environment: ["API_AUTH_PASSWORD": TestService.apiPassword],
            sending: signal,
            after: "Password: "
        )
        #expect(outcome.status == 128 + signal)
        #expect(outcome.showsTyping)
    }

    @Test("A full disk is an error for help, too", arguments: ["--help", "--version", "serve --help"])
    func helpToFullDisk(arguments: String) async throws {
        let outcome = try await TemporaryFolder.with { folder in
            try await ProgramOutcome.run(
                URL(filePath: "/bin/sh"),
                ["-c", "'\(try SelfieProcess.executable.path)' \(arguments) > /dev/full"],
                environment: [:],
                directory: folder
            )
        }
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("No space left on device."))
    }

    @Test("A full disk is an error")
    func fullDisk() async throws {
        let outcome = try await TemporaryFolder.with { folder in
            try await ProgramOutcome.run(
                URL(filePath: "/bin/sh"),
                ["-c", "printf secret | '\(try SelfieProcess.executable.path)' encrypt-password > /dev/full"],
                environment: ["API_AUTH_PASSWORD": TestService.apiPassword],
                directory: folder
            )
        }
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("could not be written to standard output: No space left on device."))
    }

    @Test("Without any input it says so")
    func emptyInput() async throws {
        let outcome = try await encrypt("")
        #expect(outcome.status != 0)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("There is no password on standard input."))
    }

    @Test("Without the key it names the key and prints nothing of the password")
    func missingKey() async throws {
        let outcome = try await encrypt("my password", environment: [:])
        #expect(outcome.status != 0)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("API_AUTH_PASSWORD is missing"))
        #expect(!outcome.errors.contains("DATABASE_URL"))
        #expect(!outcome.errors.contains("my password"))
    }
}
