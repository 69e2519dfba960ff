/// Comparisons whose time tells nothing of what is compared.
package enum ConstantTime {
    /// Whether two texts are the same.
    ///
    /// It takes a time that depends on their lengths alone, so that nobody finds a secret letter by letter.
    package static func isSame(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
