/// A number with the noun that it counts, such as `1 row` or `2 rows`.
///
/// - Parameters:
///   - count: How many.
///   - noun: The noun for one. Others get an s.
/// - Returns: Both.
package func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
