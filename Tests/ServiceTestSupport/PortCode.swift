package import Foundation
package import ProcessTestSupport
import ServerProcesses
import TestSupport

/// The Swift code of the pages in `docs/ports`.
package enum PortCode {
    /// All pages with code.
    package static let pages = ["bug-tracker", "house-list", "office-messenger", "safe-chat"]

    /// The blocks of code that are for this service: those for another one say so in their first line.
    private static func blocks(of page: String) throws -> [String] {
        let file = ProjectFolder.root.appending(path: "docs/ports/\(page).md")
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst().compactMap { rest in
            let block = rest.components(separatedBy: "\n```").first ?? ""
            return block.hasPrefix("// Before") ? nil : block
        }
    }

    /// Compiles the code of some pages, with what all share and perhaps more.
    ///
    /// - Parameters:
    ///   - pages: Such as `bug-tracker`.
    ///   - more: More code, that of a program's main file; nil to check types alone.
    ///   - folder: Where the files and the program are put.
    /// - Returns: How the compiler ended and what it printed.
    /// - Throws: An error of Foundation's.
    package static func compile(_ pages: [String], with more: String? = nil, in folder: URL) async throws
        -> ProgramOutcome
    {
        var files: [String] = []
        let texts = try (["README"] + pages).map { ($0, try blocks(of: $0).joined(separator: "\n\n")) }
        for (name, text) in texts + [("main", more ?? "")] where !text.isEmpty {
            let file = folder.appending(path: "\(name).swift")
            try Data(text.utf8).write(to: file)
            files.append(file.path)
        }
        let what = more == nil ? ["-typecheck"] : ["-o", program(in: folder).path]
        return try await ProgramOutcome.run(
            URL(filePath: "/usr/bin/env"),
            ["swiftc", "-swift-version", "6", "-warnings-as-errors"] + what + files,
            directory: folder
        )
    }

    /// Runs the program that was compiled.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - folder: Where it is.
    /// - Returns: How it ended and what it printed.
    /// - Throws: An error of Foundation's.
    package static func run(_ arguments: [String], in folder: URL) async throws -> ProgramOutcome {
        try await ProgramOutcome.run(program(in: folder), arguments, directory: folder)
    }

    private static func program(in folder: URL) -> URL { folder.appending(path: "app") }
}
