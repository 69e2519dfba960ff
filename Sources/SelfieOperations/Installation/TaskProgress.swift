/// The progress of a long task.
package struct TaskProgress: Sendable {
    /// The task, as the beginning of a line.
    package let task: String
    /// How much is done.
    package let done: Int
    /// How much there is as far as it is known: at least `done`.
    package let total: Int

    /// - Parameters:
    ///   - task: The task, as the beginning of a line.
    ///   - done: How much is done.
    ///   - total: How much there is as far as it is known: at least `done`.
    package init(task: String, done: Int, total: Int) {
        self.task = task
        self.done = done
        self.total = total
    }
}
