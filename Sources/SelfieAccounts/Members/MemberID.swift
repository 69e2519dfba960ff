/// The ids of members: 32 hexadecimal digits, which PostgreSQL makes at random.
package enum MemberID {
    /// Whether a member may have this id.
    ///
    /// - Parameter text: A text of a client's.
    /// - Returns: Whether it is so many such digits.
    package static func isPossible(_ text: String) -> Bool {
        text.utf8.count == length && text.utf8.allSatisfy { digits.contains($0) }
    }

    private static let length = 32
    private static let digits = Array("0123456789abcdef".utf8)
}
