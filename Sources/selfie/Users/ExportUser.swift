import ArgumentParser
import Encodings
import Logging
import SelfieConfiguration
import SelfieCore
import SelfieOperations

struct ExportUser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all that a user has into a ZIP file.",
        discussion: """
            It has all original photos, and profile, sessions, records and history as JSON. It needs the settings of the \
            database and of the store. Only you can read the file. It gets its name when it is complete.
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(help: "The file to write. It must not exist yet.")
    var to: String

    func validate() throws {
        guard !to.isEmpty, to != "-", !to.unicodeScalars.contains("\0") else {
            throw ValidationError("--to must be the name of a file.")
        }
    }

    func run() async throws {
        let configuration = try ServiceConfiguration(from: try ConfigurationSource.ofThisCommand())
        let bar = ProgressBar()
        defer { bar.clear() }
        let report = try await Installation.export(
            argument.user,
            to: to,
            configuration: configuration,
            logger: makeLogger(level: .warning),
            onProgress: { bar.show($0) }
        )
        bar.clear()
        print("\(to) has \(counted(report.photoCount, "photo")).")
        if report.missingCount > 0 {
            let missing = counted(report.missingCount, "photo")
            StandardError.write("\(missing) could not be read. The file manifest.sha256 in it names them.\n")
        }
    }
}
