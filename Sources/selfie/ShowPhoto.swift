import ArgumentParser
import SelfieConfiguration
import SelfieOperations
import SelfiePhotos

struct ShowPhoto: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a photo's facts, and why a small picture of it can't be made.",
        discussion: "Only DATABASE_URL is needed. The service need not be running."
    )

    @Argument(help: "The photo's random_id.")
    var randomID: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let configuration = try ConfigurationSource.ofThisCommand().read { $0.postgres() }
        let photo = try await Installation.describe(randomID, configuration: configuration)
        try output.print(photo) {
            let facts = [
                ["random_id", Cell.text(photo.randomID)], ["owner", "\(photo.ownerID)"], ["state", photo.state],
                ["type", photo.contentType ?? ""], ["bytes", photo.byteCount.map(String.init) ?? ""],
                ["size", photo.width.map { "\($0) × \(photo.height ?? 0)" } ?? ""],
                ["object", Cell.text(photo.objectKey)], ["metadata", photo.isStripped ? "removed" : "may be there"],
            ]
            let renditions = photo.renditions.map { rendition in
                [
                    rendition.size, rendition.state, rendition.byteCount.map(String.init) ?? "",
                    rendition.reason ?? "", "\(rendition.attempts)", rendition.dueAt.map { "\($0)Z" } ?? "",
                ]
            }
            let header = ["SMALL PICTURE", "STATE", "BYTES", "REASON", "ATTEMPTS", "NEXT"]
            return TextTable.text(facts) + (renditions.isEmpty ? "" : "\n" + TextTable.text([header] + renditions))
        }
    }
}
