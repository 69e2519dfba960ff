import Foundation
import ProcessTestSupport
import ServiceTestSupport
import Testing

/// `selfie doctor`, run to its end by the executable.
struct DoctorRun {
    let status: Int32
    /// All that it printed, with any white space as one space.
    let text: String
    let lines: [String]

    /// Runs it, and sees to it that no secret is printed.
    ///
    /// - Parameters:
    ///   - environment: The settings.
    ///   - arguments: Options of the command.
    ///   - directory: The folder to run it in; by default a new one, and with the project's migrations.
    /// - Throws: An error of Foundation's when it can't be started.
    init(_ environment: [String: String], _ arguments: [String] = [], directory: URL? = nil) async throws {
        let outcome = try await SelfieProcess.run(
            ["doctor"] + arguments + (directory == nil ? ["--migrations", ServedSelfie.migrationsPath] : []),
            environment: environment,
            directory: directory
        )
        status = outcome.status
        let output = outcome.output + outcome.errors
        text = output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        lines = output.split(separator: "\n").map(String.init)
        for key in Self.secretKeys {
            if let secret = environment[key] { #expect(!output.contains(secret), "\(key) is printed") }
        }
        if let url = environment["DATABASE_URL"], let password = URL(string: url)?.password(percentEncoded: false) {
            #expect(!output.contains(password))
        }
        #expect(lines.allSatisfy { $0.count <= 100 || !$0.hasPrefix(" ") })
    }

    private static let secretKeys = [
        "API_AUTH_PASSWORD", "SECRET_KEY_BASE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
        "DATABASE_URL",
    ]

    /// The lines that begin with a word such as `FAILED`.
    func lines(_ word: String) -> [String] { lines.filter { $0.hasPrefix("\(word) ") } }

    /// A configuration of which nothing is to be said.
    static func settings(databaseURL: String, objects: TestObjects) -> [String: String] {
        TestService.settings(databaseURL: databaseURL, objects: objects).merging([
            "RATE_LIMITS": "on",
            "API_AUTH_PASSWORD": "Ur9vTq2LmX7bKzWd",
            "SECRET_KEY_BASE": "9b1f0c7de24a5836f1c09d7be3428a65d0f7c1b2e3948576a0b1c2d3e4f50617",
        ]) { $1 }
    }
}
