import ArgumentParser
import FoundationEssentials
import JSON
import RecordSchema
import SelfieConfiguration
import SelfieOperations
import SelfieRecords

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Apply and show the schema: the roles and the collections of records.",
        subcommands: [ApplySchemaFile.self, ShowSchema.self]
    )
}

struct ApplySchemaFile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Apply a schema file.",
        discussion: """
            Shows what will change, and changes it in one transaction. Meanwhile, writes of records wait. Changes that \
            lose data, or show existing records to more people, need --force.
            """
    )

    @Argument(help: "The file, in JSON.", completion: .file(extensions: ["json"]))
    var file: String

    @Flag(help: "Only show what would change.")
    var dryRun = false

    @Flag(help: "Also make changes that lose data or show records to more people.")
    var force = false

    func run() async throws {
        let schema = try SchemaFile.read(file)
        try await Administration.run { records in
            let preview = try await records.preview(schema)
            let plan = preview.plan
            if plan.changes.isEmpty { return print("The schema is up to date.") }
            print(dryRun ? "This would change:\n\(preview.text)" : "Changes:\n\(preview.text)", terminator: "")
            guard plan.refusals.isEmpty else { return try end("Nothing was changed: a change can't be made.") }
            guard !dryRun else { return StandardError.write(preview.misfitText) }
            guard force || !preview.needsConfirmation else {
                StandardError.write(preview.misfitText)
                let effects = [plan.losses.isEmpty ? nil : "lose this data", preview.showsMore ? "show more" : nil]
                return try end(
                    "Nothing was changed. To \(effects.compactMap(\.self).joined(separator: " and ")), add --force."
                )
            }
            guard let report = try await records.apply(schema, as: plan, mayShowMore: force) else {
                return try end("Nothing was changed: the schema has been changed meanwhile. Please try again.")
            }
            print("Applied.")
            StandardError.write(report.misfitText)
        }
    }

    private func end(_ message: String) throws {
        StandardError.write("\(message)\n")
        throw ExitCode.failure
    }
}

struct ShowSchema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the schema that is applied, as a file for apply."
    )

    func run() async throws {
        let schema = try await Administration.run { try await $0.schema() }
        print(schema.json.prettyText)
    }
}
