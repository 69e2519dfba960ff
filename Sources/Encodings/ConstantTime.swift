/// Comparisons that do not tell by their time where two texts differ.
package enum ConstantTime {
    /// Whether two texts are the same.
    ///
    /// The time depends on their lengths only, so nobody can guess a secret letter by letter.
    package static func isSame(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
