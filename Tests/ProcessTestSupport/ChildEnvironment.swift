import Foundation

/// The environment of the processes that tests start: of this process's own only what says nothing of the machine.
package enum ChildEnvironment {
    /// Where programs lie, where one that is built to tell its coverage writes it, and what sanitizers are to look for.
    private static let inherited = ["PATH", "LLVM_PROFILE_FILE", "ASAN_OPTIONS"]

    /// - Parameter values: What a test adds.
    /// - Returns: The whole environment.
    package static func with(_ values: [String: String] = [:]) -> [String: String] {
        ProcessInfo.processInfo.environment.filter { inherited.contains($0.key) }.merging(values) { $1 }
    }
}
