import ArgumentParser
import Migrations
import SelfieConfiguration
import SelfieOperations

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check settings, database and bucket, and say how to put right what is wrong.",
        discussion: """
            Prints a line for each check. It changes nothing in the database. It puts an object \
            \(Diagnosis.probePrefix)… into the bucket or folder and deletes it. If the command is killed in between, \
            selfie photos reconcile deletes it. The exit status is 0 when nothing failed; warnings are not failures.
            """
    )

    @Flag(help: "Make the bucket if it is missing, as the first upload would.")
    var makeBucket = false

    @OptionGroup var migrations: MigrationOptions

    func run() async throws {
        let diagnosis = Diagnosis(
            migrations: Result(catching: migrations.directory.load),
            makesBucket: makeBucket
        )
        let source: Result<ConfigurationSource, any Error>
        do { source = .success(try ConfigurationSource.ofThisCommand()) } catch { source = .failure(error) }
        let summary = await diagnosis.run(on: source) { print(FindingText.lines($0)) }
        print(FindingText.line(summary))
        if summary.failures > 0 { throw ExitCode.failure }
    }
}

/// Findings as `doctor` prints them.
enum FindingText {
    private static let columns = 100
    private static let indentation = String(repeating: " ", count: 9)

    /// A line that tells how the check ended, and the advice as a paragraph below.
    static func lines(_ finding: Finding) -> String {
        let grade = word(finding.grade).padded(to: indentation.count)
        let line = "\(grade)\(finding.subject.rawValue): \(finding.text)"
        guard let advice = finding.advice else { return line }
        return ([line] + wrapped("What to do: \(advice)").map { indentation + $0 }).joined(separator: "\n")
    }

    /// The last line: the counts.
    static func line(_ summary: DiagnosisSummary) -> String {
        let parts = [
            (summary.failures, "failed"), (summary.warnings, summary.warnings == 1 ? "warning" : "warnings"),
            (summary.skipped, "skipped"), (summary.ok, "ok"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return summary.failures > 0 ? "Something is wrong: \(parts)." : "Nothing failed: \(parts)."
    }

    private static func word(_ grade: Finding.Grade) -> String {
        switch grade {
        case .ok: "ok"
        case .warning: "WARNING"
        case .failed: "FAILED"
        case .skipped: "skipped"
        }
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

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
