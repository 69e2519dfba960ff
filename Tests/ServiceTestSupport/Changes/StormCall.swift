package import ConnectionTestSupport
package import Foundation

/// A call of a storm, and what became of it.
package struct StormCall: Sendable {
    /// Such as `PUT threads`.
    package let name: String
    package let start: Date
    package let end: Date
    /// Nil for a call that got no whole answer.
    package let answer: HTTPAnswer?
    /// The statuses of refusals that the storm itself causes.
    package let refusals: Set<Int>

    /// - Parameters:
    ///   - name: Such as `PUT threads`.
    ///   - start: When it was sent.
    ///   - end: When its answer had come.
    ///   - answer: Nil for a call that got no whole answer.
    ///   - refusals: The statuses of refusals that the storm itself causes.
    package init(name: String, start: Date, end: Date, answer: HTTPAnswer?, refusals: Set<Int> = []) {
        (self.name, self.start, self.end) = (name, start, end)
        (self.answer, self.refusals) = (answer, refusals)
    }
}
