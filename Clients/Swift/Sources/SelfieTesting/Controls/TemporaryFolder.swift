import Foundation

/// A folder that goes with this.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("selfie-testing-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }
}
