package import Foundation
import ProcessTestSupport
import TestSupport
import Testing

/// An export that other programs have opened and unpacked.
package struct UnpackedExport {
    private let folder: URL
    /// The names of its files, in their order.
    package let names: [String]
    /// The time of each file to two seconds in UTC: year, month, day, hour, minute, second.
    package let times: [String: [Int]]

    /// Runs a body with an archive.
    ///
    /// - Parameters:
    ///   - url: The archive. Python, `unzip` and `sha256sum` find it whole.
    ///   - body: Looks at its files.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or an error when an archive can't be opened.
    package static func with<Result>(
        fileAt url: URL,
        _ body: (UnpackedExport) async throws -> Result
    ) async throws -> Result {
        try await TemporaryFolder.with { folder in
            let output = try await PythonScript.run("open_zip.py", input: "\(url.path)\t\(folder.path)\n")
            let json = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
            let files = try #require(json["files"] as? [[Any]])
            let export = UnpackedExport(
                folder: folder,
                names: files.compactMap { $0.first as? String },
                times: try #require(json["times"] as? [String: [Int]])
            )
            for (program, arguments) in [
                ("/usr/bin/unzip", ["-tq", url.path]),
                ("/usr/bin/sha256sum", ["-c", "--strict", "--quiet", "manifest.sha256"]),
            ] where FileManager.default.isExecutableFile(atPath: program) {
                let outcome = try await ProgramOutcome.run(URL(filePath: program), arguments, directory: folder)
                #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            }
            // Each file but the manifest itself, which is the last one.
            let sums = try export.manifest.filter { !$0.hasPrefix("#") }.map { String($0.dropFirst(66)) }
            #expect(sums == Array(export.names.dropLast()) && export.names.last == "manifest.sha256")
            #expect(Set(export.names).count == export.names.count)
            return try await body(export)
        }
    }

    /// The same with the bytes of an archive.
    package static func with<Result>(
        _ bytes: Data,
        _ body: (UnpackedExport) async throws -> Result
    ) async throws -> Result {
        try await TemporaryFolder.with { folder in
            let url = folder.appending(path: "export.zip")
            try bytes.write(to: url)
            return try await with(fileAt: url, body)
        }
    }

    /// A file's bytes.
    package func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    /// A file that is a JSON array of objects.
    package func list(_ name: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: bytes(name)) as? [[String: Any]])
    }

    /// A file that is a JSON object.
    package func object(_ name: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: bytes(name)) as? [String: Any])
    }

    /// The lines of the manifest.
    package var manifest: [String] {
        get throws {
            String(decoding: try bytes("manifest.sha256"), as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// The names of the photos.
    package var photoNames: [String] { names.filter { $0.hasPrefix("photos/") } }
}
