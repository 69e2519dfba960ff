import Foundation
import Testing

@Suite("The chat of the tutorial")
struct ChatTutorialTests {
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.package.appendingPathComponent(path), encoding: .utf8)
    }

    @Test(
        "is the example, file by file",
        arguments: ["schema.json", "Package.swift", "Sources/chat/Conversation.swift", "Sources/chat/Program.swift"]
    )
    func showsExample(file: String) throws {
        let tutorial = try text("Sources/SelfieClient/SelfieClient.docc/ChatTutorial.md")
        // The tutorial's folder is elsewhere.
        let example = try text("Examples/Chat/\(file)").replacingOccurrences(
            of: #"path: "../..""#,
            with: #"path: "../selfie/Clients/Swift""#
        )
        let language = file.hasSuffix(".json") ? "json" : "swift"
        let shown = "`chat/\(file)`:\n\n```\(language)\n\(example)```\n"
        #expect(tutorial.contains(shown), "ChatTutorial.md has another \(file).")
    }
}
