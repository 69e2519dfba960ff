import Foundation
import ProcessTestSupport
import Testing

/// Scripts that use the service's pages in Chromium.
package enum BrowserScript {
    /// Runs a script of `Tests/Python/browser`, and expects that no log holds what it used.
    ///
    /// - Parameters:
    ///   - script: The name of its file.
    ///   - service: The service.
    ///   - values: What the script gets, beside the service's origin. No log may hold it.
    /// - Throws: What keeps the script from running to its end.
    package static func run(_ script: String, in service: TestService, _ values: [String: String]) async throws {
        let given = values.merging(["origin": service.origin]) { $1 }
        let input = String(decoding: try JSONEncoder().encode(given), as: UTF8.self)
        let output = try await PythonScript.run("browser/\(script)", input: input)
        let used = try JSONDecoder().decode([String].self, from: Data(output.utf8))
        #expect(!used.isEmpty)
        service.secrets.note(used + values.values)
    }
}
