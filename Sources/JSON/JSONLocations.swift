/// The lines of a JSON text's members.
struct JSONLocations {
    /// The line of each member and element, by the names and positions that lead to it.
    private(set) var lines: [[String]: Int] = [:]
    /// Duplicate members, with the line of the second.
    private(set) var duplicates: [(path: [String], line: Int)] = []
    private var path: [String] = []
    private var last = (index: 0, line: 1)

    /// Notes a member or an element.
    ///
    /// - Parameters:
    ///   - name: Its name or position.
    ///   - index: Where it begins, behind all that were noted before.
    ///   - text: The whole text.
    mutating func enter(_ name: String, at index: Int, in text: [UInt8]) {
        last.line += text[last.index..<index].count { $0 == UInt8(ascii: "\n") }
        last.index = index
        path.append(name)
        if lines.updateValue(last.line, forKey: path) != nil { duplicates.append((path, last.line)) }
    }

    /// Goes back to what the member belongs to.
    mutating func leave() {
        path.removeLast()
    }
}
