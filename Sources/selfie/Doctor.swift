import ArgumentParser
import Migrations
import SelfieConfiguration
import SelfieOperations
import Synchronization

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check settings, database, bucket and mail, and say how to fix what is wrong.",
        discussion: """
            Prints a line for each check. It changes nothing in the database. It puts an object \
            \(InstallationCheck.probePrefix)… into the bucket or folder and deletes it. If the command is killed in \
            between, selfie photos reconcile deletes it. It signs in at the mail server, and sends nothing. The exit status is 0 when nothing failed; warnings are not \
            failures.
            """
    )

    @Flag(help: "Create the bucket if it is missing, as the first upload would.")
    var makeBucket = false

    @OptionGroup var migrations: MigrationOptions

    func run() async throws {
        let (source, outbox) = try ConfigurationSource.ofThisCommandAndOutbox()
        let check = InstallationCheck(
            migrations: Result(catching: migrations.directory.load),
            makesBucket: makeBucket,
            outbox: outbox
        )
        let counts = Mutex<[Finding.Grade: Int]>([:])
        await check.run(on: source) { finding in
            print(FindingText.lines(finding))
            counts.withLock { $0[finding.grade, default: 0] += 1 }
        }
        let result = counts.withLock { $0 }
        print(FindingText.line(result))
        if result[.failed] != nil { throw ExitCode.failure }
    }
}

/// Findings as `doctor` prints them.
enum FindingText {
    private static let columns = 100
    private static let indentation = String(repeating: " ", count: 9)

    /// A line with the result of the check, and what to do as a paragraph below.
    static func lines(_ finding: Finding) -> String {
        let grade = finding.grade.rawValue
        let line = "\(grade)\(indentation.dropFirst(grade.count))\(finding.subject.rawValue): \(finding.text)"
        guard let remedy = finding.remedy else { return line }
        return ([line] + wrapped("What to do: \(remedy)").map { indentation + $0 }).joined(separator: "\n")
    }

    /// The last line: the counts.
    static func line(_ counts: [Finding.Grade: Int]) -> String {
        let parts = [Finding.Grade.failed, .warning, .skipped, .ok].compactMap { grade in
            counts[grade].map { "\($0) \(grade == .warning && $0 > 1 ? "warnings" : grade.rawValue.lowercased())" }
        }
        return "\(counts[.failed] == nil ? "Nothing failed" : "Something is wrong"): \(parts.joined(separator: ", "))."
    }

    private static func wrapped(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.count + word.count < columns - indentation.count {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}
