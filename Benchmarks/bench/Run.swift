import ArgumentParser
import Concurrency
import Foundation
import UnixSignals

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure, and write .bench/results.json and .bench/results.md.",
        discussion: """
            Runs a PostgreSQL, a service and a load generator of its own in a temporary folder, and ends them all. \
            Other work of the machine changes the results.
            """
    )

    @Option(help: "How often each comparison is measured; medians are reported.")
    var rounds = 5

    @Option(help: "How long each measurement takes, in seconds.")
    var seconds = 5

    private static let outputFolder = URL(filePath: ".bench")

    func validate() throws {
        guard (1...100).contains(rounds) else { throw ValidationError("--rounds must be from 1 to 100.") }
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds must be from 1 to 600.") }
    }

    func run() async throws {
        let results = try await Self.untilSignal { [rounds, seconds] in
            try await Stage.with { stage in
                try await Measurements(stage: stage, roundCount: rounds, seconds: seconds).run()
            }
        }
        let report = Report(results)
        try report.write(to: Self.outputFolder)
        say("\n\(report.markdown)\nWrote these results to .bench/results.md and all values to .bench/results.json.")
        if results.failureCount > 0 {
            let failures = results.failures.map { "\($0) \($1)" }.sorted().joined(separator: ", ")
            say("Failed: some requests were not answered with 2xx, so the results mean little: \(failures).")
            throw ExitCode.failure
        }
        let missing = results.ratios.filter(\.values.isEmpty).map(\.key)
        if !missing.isEmpty {
            say("Failed: these ratios were not measured: \(missing.joined(separator: ", ")).")
            throw ExitCode.failure
        }
    }

    /// Runs `body`, and cancels it when a signal asks this process to end.
    ///
    /// `body` cleans up before this returns.
    private static func untilSignal<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        return try await race(
            body,
            against: {
                for await signal in signals {
                    say("Stopping everything.")
                    // The exit code of shells for a process that a signal ended.
                    return ExitCode(128 + signal.rawValue)
                }
                return CancellationError()
            }
        )
    }
}
