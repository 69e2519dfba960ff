import Foundation

/// The environment of the processes that tests start: of this process's own only what says nothing of the machine.
package enum ChildEnvironment {
    /// Where programs lie, and where one that is built to tell its coverage writes it.
    private static let inherited = ["PATH", "LLVM_PROFILE_FILE"]

    /// - Parameter values: What a test adds.
    /// - Returns: The whole environment.
    package static func with(_ values: [String: String] = [:]) -> [String: String] {
        ProcessInfo.processInfo.environment.filter { inherited.contains($0.key) }.merging(values) { $1 }
    }
}
