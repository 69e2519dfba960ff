/// How a long task ended.
package struct TaskResult<Report: Sendable>: Sendable {
    /// What it did, also if it failed later.
    package let report: Report
    /// Why it ended early; nil when it was finished.
    package let failure: (any Error)?

    /// Runs a task.
    ///
    /// - Parameters:
    ///   - report: What it begins with.
    ///   - task: Writes down what it does.
    init(_ report: Report, _ task: (inout Report) async throws -> Void) async {
        var report = report
        do {
            try await task(&report)
            failure = nil
        } catch {
            failure = InstallationError.explanation(of: error)
        }
        self.report = report
    }
}
