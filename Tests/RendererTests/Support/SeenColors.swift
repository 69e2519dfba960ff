import Foundation
import ProcessTestSupport
import Renderer
import ServerProcesses
import TestSupport

/// What is seen of a rendition: its size, and the color in the middle of each quarter.
struct SeenColors {
    let width: Int
    let height: Int
    /// Row by row: red, green, blue, opacity.
    let quarters: [[Int]]

    /// The colors of a rendition, in a process of their own.
    static func of(_ rendition: Rendition) async throws -> SeenColors { try await of([rendition])[0] }

    /// The colors of renditions, in a process of their own.
    static func of(_ renditions: [Rendition]) async throws -> [SeenColors] {
        try await TemporaryFolder.with { folder in
            let files = renditions.indices.map { folder.appending(path: "\($0)") }
            for (file, rendition) in zip(files, renditions) { try Data(rendition.bytes).write(to: file) }
            let script = ProjectFolder.root.appending(path: "Tests/Python/picture_colors.py").path
            let outcome = try await ProgramOutcome.run(
                URL(filePath: "/usr/bin/env"),
                ["python3", script] + files.map(\.path),
                directory: folder
            )
            let lines = outcome.output.split(separator: "\n").map { line in
                line.split(separator: " ").compactMap { Int($0) }
            }
            guard lines.count == files.count, lines.allSatisfy({ $0.count == 18 }) else {
                throw ServerProcessError.failed("picture_colors", errors: outcome.errors)
            }
            return lines.map { numbers in
                SeenColors(
                    width: numbers[0],
                    height: numbers[1],
                    quarters: (0..<4).map { Array(numbers[(2 + $0 * 4)..<(6 + $0 * 4)]) }
                )
            }
        }
    }

    /// Whether each quarter has about the color that is expected; colors that can't be seen do not count.
    func areAbout(_ expected: [[Int]], tolerance: Int = 16) -> Bool {
        zip(quarters, expected).allSatisfy { seen, wanted in
            wanted[3] == 0
                ? seen[3] <= tolerance : zip(seen, wanted).allSatisfy { abs($0 - $1) <= tolerance }
        }
    }

    /// The four fields of `render_pictures.py`.
    static let fields = [[220, 40, 40, 255], [40, 200, 60, 255], [40, 60, 220, 255], [230, 220, 40, 255]]
}
