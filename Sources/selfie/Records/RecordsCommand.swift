import ArgumentParser
import Encodings
import SelfieOperations
import SelfieRecords

struct RecordsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "records",
        abstract: "Import and export records.",
        subcommands: [ImportRecordFile.self, ExportRecordFile.self]
    )
}

struct ImportRecordFile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the records of a file, a JSON object in each line.",
        discussion: """
            All lines are checked first. If one is wrong, nothing is added. After an interruption, the same command goes on \
            where it was. Nobody gets a push, a mail or a webhook for imported records.
            """
    )

    @Argument(help: "The file.", completion: .file(extensions: ["jsonl"]))
    var file: String

    @Option(help: "The collection of lines that name none.")
    var collection: String?

    @Flag(help: "Only check the file.")
    var dryRun = false

    func run() async throws {
        let bar = ProgressBar()
        defer { bar.clear() }
        let report = try await Administration.run { administration in
            do {
                return try await administration.importRecords(
                    from: file,
                    into: collection,
                    isDryRun: dryRun,
                    onProgress: { bar.show($0) }
                )
            } catch is ImportedElsewhere {
                throw ImportError.elsewhere
            }
        }
        bar.clear()
        guard report.errors.isEmpty else {
            for error in report.errors { StandardError.write("\(error)\n") }
            if report.moreErrorCount > 0 {
                StandardError.write("and \(counted(report.moreErrorCount, "more error"))\n")
            }
            StandardError.write(
                report.isChecked
                    ? "These lines were not imported, since something has changed meanwhile. All others were.\n"
                    : "Mend the file, and run the command again. Nothing was added.\n"
            )
            throw ExitCode.failure
        }
        let records = counted(report.recordCount - report.earlierCount, "record")
        if dryRun { return print("\(records) would be imported.") }
        let earlier = report.earlierCount > 0 ? " \(report.earlierCount) were imported before." : ""
        print("\(records) imported.\(earlier)")
        if report.danglingCount > 0 {
            let verb = report.danglingCount == 1 ? "refers" : "refer"
            StandardError.write("\(counted(report.danglingCount, "record")) \(verb) to records that are not there.\n")
        }
    }
}

/// Why an import has ended.
private enum ImportError: Error, CustomStringConvertible {
    case elsewhere

    var description: String { "Another process imports this file." }
}

struct ExportRecordFile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print all records of a collection, as lines that import takes.",
        discussion:
            "Members are named by their e-mail addresses. Of photos, only the ids are printed."
    )

    @Argument(help: "The collection.")
    var collection: String

    func run() async throws {
        let count = try await Administration.run { administration in
            try await administration.exportRecords(of: collection) { print($0, terminator: "") }
        }
        guard count != nil else { throw ExportError.noCollection(collection) }
    }
}

/// Why an export has ended.
private enum ExportError: Error, CustomStringConvertible {
    case noCollection(String)

    var description: String {
        switch self {
        case .noCollection(let name): "There is no collection \(name)."
        }
    }
}
