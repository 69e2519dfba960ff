package import Foundation
package import ProcessTestSupport
import ServerProcesses

/// The Swift code of the pages in `docs/ports` and of the README, compiled against the client that was built with the tests.
package enum PortCode {
    /// All pages of apps.
    package static let pages = ["bug-tracker", "house-list", "office-messenger", "safe-chat", "selfie-app"]

    /// What all pages share.
    package static let shared = "README"

    private enum Problem: Error {
        /// The list of a program's object files has none of the client's.
        case noObjects(in: URL)
    }

    /// The blocks of code that are for the client: those for another service say so in their first line.
    ///
    /// - Parameter file: The file's path in the project.
    /// - Returns: The blocks, one after the other.
    /// - Throws: An error of Foundation's.
    package static func code(of file: String) throws -> String {
        let text = try String(contentsOf: ProjectFolder.root.appending(path: file), encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst().compactMap { rest in
            let block = rest.components(separatedBy: "\n```").first ?? ""
            return block.hasPrefix("// Before") ? nil : block
        }.joined(separator: "\n\n")
    }

    /// The README's code, as a program that gets the service's URL and the app's credential as its arguments.
    package static var readme: String {
        get throws {
            """
            let words = CommandLine.arguments
            let (apiAuthName, apiAuthPassword) = (words[2], words[3])

            """
                + (try code(of: "README.md")).replacingOccurrences(of: "\"http://127.0.0.1:3000\"", with: "words[1]")
        }
    }

    /// Compiles code against the client.
    ///
    /// - Parameters:
    ///   - pages: Pages of `docs/ports`, such as `bug-tracker`.
    ///   - main: The program's main file.
    ///   - folder: Where the files and the program are put.
    ///   - isTypesOnly: Whether types are checked, and no program is made.
    /// - Returns: How the compiler ended and what it printed.
    /// - Throws: An error of Foundation's, or one that names a file of the build that is missing.
    package static func compile(_ pages: [String], with main: String, in folder: URL, isTypesOnly: Bool = false)
        async throws -> ProgramOutcome
    {
        var files: [String] = []
        for (name, text) in try pages.map({ ($0, try code(of: "docs/ports/\($0).md")) }) + [("main", main)] {
            let file = folder.appending(path: "\(name).swift")
            try Data(text.utf8).write(to: file)
            files.append(file.path)
        }
        let built = try builtFolder
        var arguments = ["swiftc", "-swift-version", "6", "-warnings-as-errors"]
        for modules in [built.appending(path: "Modules"), ProjectFolder.root.appending(path: cryptography)] {
            arguments += ["-I", modules.path]
        }
        if isTypesOnly {
            arguments.append("-typecheck")
        } else {
            arguments += try clientObjects(in: built) + ["-o", program(in: folder).path]
        }
        return try await ProgramOutcome.run(URL(filePath: "/usr/bin/env"), arguments + files, directory: folder)
    }

    /// The module map by which the client imports the system's cryptography; it names the library to link.
    private static let cryptography = "Clients/Swift/Sources/CSelfieCrypto"

    /// The folder of what was built: the one of the tests that run.
    private static var builtFolder: URL {
        get throws {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(filePath: tests).deletingLastPathComponent()
        }
    }

    /// The client's object files, however the build has divided and named them.
    ///
    /// Older builds may have left others in the same folder. So the names are those that another program was linked from.
    private static func clientObjects(in built: URL) throws -> [String] {
        let list = built.appending(path: "client-process.product/Objects.LinkFileList")
        let objects = try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "'\"")) }
            .filter { $0.contains("/SelfieClient.build/") }
        guard !objects.isEmpty else { throw Problem.noObjects(in: list) }
        return objects
    }

    /// Runs the program that was compiled.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - folder: Where it is; also its working folder and its user's home.
    /// - Returns: How it ended and what it printed.
    /// - Throws: An error of Foundation's.
    package static func run(_ arguments: [String], in folder: URL) async throws -> ProgramOutcome {
        try await ProgramOutcome.run(
            program(in: folder),
            arguments,
            environment: ["HOME": folder.path],
            directory: folder
        )
    }

    private static func program(in folder: URL) -> URL { folder.appending(path: "app") }
}
