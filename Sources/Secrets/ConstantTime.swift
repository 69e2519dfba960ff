/// Comparisons whose time does not depend on where two values differ.
package enum ConstantTime {
    /// Whether two sequences of bytes are the same.
    ///
    /// The time depends on their lengths only, so a client can't guess a secret byte by byte.
    package static func isSame(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        let (left, right) = (Array(left), Array(right))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
