import ArgumentParser
import Encodings
import Logging
import SelfieConfiguration
import SelfieOperations
import Synchronization

struct Reconcile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare the photos in the database with the objects in the bucket or folder, and repair.",
        discussion: """
            Deletes objects that belong to no photo, and the rows of photos without an object. With --versions, it \
            also deletes old versions of deleted photos. It also removes unfinished uploads that are older than \
            --older-than, and at least 80 seconds old. The service may keep running: uploads and deletions in progress \
            are not touched. The exit status is 0 when no difference is left.
            """
    )

    @Flag(help: "Only report differences, and change nothing.")
    var dryRun = false

    @Option(help: "Ignore younger differences: a number with s, m, h or d.")
    var olderThan = Age(seconds: 3600)

    @Flag(help: "Also look for old versions of deleted photos.")
    var versions = false

    @Flag(help: "Repair even if most objects or photos do not match.")
    var force = false

    /// This many findings are printed one by one.
    private static let maxFindings = 100

    func run() async throws {
        let configuration = try ServiceConfiguration(from: try ConfigurationSource.ofThisCommand())
        StandardError.write("Comparing \(configuration.installation).\n")
        let bar = ProgressBar()
        let printer = FindingPrinter(max: Self.maxFindings, isDryRun: dryRun, bar: bar)
        let result: TaskResult<ReconciliationReport>
        do {
            defer { bar.clear() }
            result = try await Installation.reconcile(
                ReconciliationOptions(
                    repairs: !dryRun,
                    minSeconds: olderThan.seconds,
                    isForced: force,
                    includesVersions: versions
                ),
                configuration: configuration,
                logger: makeLogger(level: .warning),
                onProgress: { bar.show($0) },
                onFinding: { printer.print($0) }
            )
        }
        print(ReconciliationTable.text(result.report, installation: configuration.installation))
        if let failure = result.failure { throw failure }
        if olderThan.seconds > 0 { StandardError.write("Differences younger than \(olderThan) were ignored.\n") }
        if !result.report.isClean { throw ExitCode.failure }
    }
}

/// An age such as `90s`, `15m`, `2h` or `7d`.
struct Age: ExpressibleByArgument, CustomStringConvertible {
    let seconds: Int

    init(seconds: Int) {
        self.seconds = seconds
    }

    init?(argument: String) {
        guard let seconds = TimeText.seconds(argument, numbers: 0...1_000_000) else { return nil }
        self.seconds = seconds
    }

    var description: String { TimeText.text(seconds: seconds) }
}

/// The table that `photos reconcile` ends with.
enum ReconciliationTable {
    static func text(_ report: ReconciliationReport, installation: String) -> String {
        let rows = ReconciliationReport.Kind.allCases.map { kind in
            let count = report[kind]
            return [kind.texts.title, "\(count.found)", "\(count.repaired)", "\(count.found - count.repaired)"]
        }
        let table = TextTable.text([["", "FOUND", "REPAIRED", "LEFT"]] + rows, rightAligned: [1, 2, 3])
        let (photos, objects) = (counted(report.photoCount, "photo"), counted(report.objectCount, "object"))
        return "Compared \(photos) with \(objects): \(installation).\n\(table)"
    }
}

/// Prints findings line by line, up to a limit.
private final class FindingPrinter: Sendable {
    private let max: Int
    private let isDryRun: Bool
    private let bar: ProgressBar
    private let count = Mutex(0)

    init(max: Int, isDryRun: Bool, bar: ProgressBar) {
        self.max = max
        self.isDryRun = isDryRun
        self.bar = bar
    }

    func print(_ finding: ReconciliationFinding) {
        let count = count.withLock { count in
            count += 1
            return count
        }
        guard count <= max else { return }
        bar.clear()
        let outcome = finding.isRepaired ? finding.kind.texts.repair : isDryRun ? "found" : "not repaired"
        // A key that was put there by hand may have any characters.
        let key = finding.key.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : String($0) }
        Swift.print("\(outcome): \(finding.kind.texts.sentence) \(key.joined())")
        if count == max { Swift.print("… and more. The table counts all.") }
    }
}

extension ReconciliationReport.Kind {
    /// A line of the table, the text before a key, and what the repair did.
    fileprivate var texts: (title: String, sentence: String, repair: String) {
        switch self {
        case .objectWithoutPhoto: ("Objects without a photo", "object without a photo:", "object deleted")
        case .photoWithoutObject: ("Photos without an object", "photo without an object:", "row deleted")
        case .otherLength:
            ("Photos whose object has another length", "photo whose object has another length:", "repaired")
        case .renditionWithoutObject:
            ("Small pictures without their object", "small picture without its object, of", "will be made again")
        case .unfinishedPut: ("Uploads left unfinished", "upload left unfinished:", "upload removed")
        case .versionWithoutPhoto:
            ("Versions of deleted photos", "version of a deleted photo:", "version deleted")
        }
    }
}
