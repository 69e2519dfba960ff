/// How far a long task is.
package struct TaskProgress: Sendable {
    /// What is being done, as the begin of a line.
    package let task: String
    /// How much is done.
    package let done: Int
    /// How much there is, as far as is known; not less than what is done.
    package let total: Int

    /// - Parameters:
    ///   - task: What is being done, as the begin of a line.
    ///   - done: How much is done.
    ///   - total: How much there is, as far as is known; not less than what is done.
    package init(task: String, done: Int, total: Int) {
        self.task = task
        self.done = done
        self.total = total
    }
}
