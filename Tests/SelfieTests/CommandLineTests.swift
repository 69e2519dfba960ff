import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The command line")
struct CommandLineTests {
    @Test(
        "The help of every command says what it does, and what each of its options is for",
        arguments: [
            ([], ["serve", "migrate", "dev", "encrypt-password"]),
            (["serve"], ["--hostname", "--port", "--migrations"]),
            (["dev"], ["--hostname", "--port"]),
            (["migrate"], ["up", "status", "down", "new"]),
            (["migrate", "up"], ["--migrations"]),
            (["migrate", "status"], ["--migrations"]),
            (["migrate", "down"], ["<count>", "--migrations"]),
            (["migrate", "new"], ["<name>", "--migrations"]),
            (["users"], ["list", "show", "disable", "enable", "delete", "sessions", "audit"]),
            (["users", "list"], ["--matching", "--after", "--limit", "--json"]),
            (["users", "show"], ["<user>", "--json"]), (["users", "disable"], ["<user>", "--json"]),
            (["users", "delete"], ["--yes", "<user>", "--json"]),
            (["users", "audit"], ["<user>", "--limit", "--json"]),
            (["encrypt-password"], []),
        ] as [([String], [String])]
    )
    func help(command: [String], words: [String]) async throws {
        let outcome = try await SelfieProcess.run(command + ["--help"])
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        #expect(outcome.output.contains(/OVERVIEW: [A-Z]/))
        #expect(outcome.output.contains("USAGE: \((["selfie"] + command).joined(separator: " "))"))
        let lines = outcome.output.split(separator: "\n")
        for word in words + ["-h, --help"] {
            let index = try #require(
                lines.firstIndex { $0.hasPrefix("  \(word)") && !$0.hasPrefix("  \(word)-") },
                "\(word) in \(outcome.output)"
            )
            // A long name leaves no room beside it, so its text begins on the next line.
            let next = lines.dropFirst(index + 1).first { $0.hasPrefix("          ") } ?? ""
            let isBeside = lines[index].dropFirst(word.count + 2).contains("  ")
            let explanation = isBeside ? lines[index].dropFirst(word.count + 2) : "  " + next
            #expect(try explanation.contains(Regex("  [A-Z][a-z]")), "\(word) is not explained")
        }
    }

    @Test(
        "Unknown or malformed input ends with a usage line and a non-zero status, and does nothing",
        arguments: [
            ["no-such-command"], ["--no-such-option"], ["serve", "--no-such-option"], ["serve", "extra"],
            ["serve", "--port"], ["serve", "--port", "http"], ["serve", "--port", "65536"], ["serve", "--port=-1"],
            ["dev", "--port", "65536"], ["dev", "extra"], ["migrate", "sideways"], ["migrate", "down", "many"],
            ["migrate", "down", "0"], ["migrate", "down", "--", "-1"], ["migrate", "down", "1", "2"],
            ["migrate", "new"],
            ["migrate", "status", "extra"], ["encrypt-password", "secret"],
        ]
    )
    func refusal(arguments: [String]) async throws {
        try await TemporaryFolder.with { folder in
            let outcome = try await SelfieProcess.run(arguments, directory: folder)
            #expect(outcome.status != 0)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("Error: "))
            #expect(outcome.errors.contains("Usage: selfie"))
            #expect(try folder.names().isEmpty)
        }
    }

    @Test("The version is the newest one in the changelog")
    func version() async throws {
        let changelog = try String(contentsOf: ProjectFolder.root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(changelog.firstMatch(of: /\n## ([0-9]+\.[0-9]+\.[0-9]+) - 20/)).1
        let outcome = try await SelfieProcess.run(["--version"])
        #expect(outcome.status == 0)
        #expect(outcome.output == "\(newest)\n")
    }
}
