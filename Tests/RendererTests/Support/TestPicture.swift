import Foundation
import Glibc
import Renderer
import ServerProcesses
import TestSupport

/// The pictures of `Pictures`, and renderers that have time enough on a busy machine.
enum TestPicture {
    static let folder = ProjectFolder.root.appending(path: "Tests/RendererTests/Pictures")

    static func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    /// A renderer that has a minute.
    ///
    /// - Parameter change: Changes what it may use.
    /// - Returns: The renderer that was built with the tests.
    /// - Throws: `NotInTime` when the system does not tell where the tests are.
    static func renderer(_ change: (inout RenderBudget) -> Void = { _ in }) throws -> RenderProcess {
        guard let program = RenderProcess.programBesideThis else { throw NotInTime(what: "the tests' own folder") }
        var budget = RenderBudget()
        budget.time = .seconds(60)
        change(&budget)
        return RenderProcess(program: program, budget: budget)
    }

    /// Renders a picture of the folder.
    static func render(_ name: String, longerSide: Int = 32) async throws -> RenderOutcome {
        try await withFile(folder.appending(path: name)) { file in
            try await renderer().render(file, longerSide: longerSide)
        }
    }

    /// Renders a picture that is not in the folder.
    static func render(_ bytes: Data, longerSide: Int = 320) async throws -> RenderOutcome {
        try await TemporaryFolder.with { folder in
            try bytes.write(to: folder.appending(path: "picture"))
            return try await withFile(folder.appending(path: "picture")) { file in
                try await renderer().render(file, longerSide: longerSide)
            }
        }
    }

    /// Opens a file for a body.
    static func withFile<Result>(_ url: URL, _ body: (Int32) async throws -> Result) async throws -> Result {
        let file = open(url.path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw NotInTime(what: url.path) }
        defer { close(file) }
        return try await body(file)
    }
}

extension RenderOutcome {
    var rendition: Rendition? {
        guard case .rendition(let rendition) = self else { return nil }
        return rendition
    }
}
