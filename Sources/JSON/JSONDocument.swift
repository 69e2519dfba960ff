/// A JSON text written by hand, with the lines of its members.
package struct JSONDocument: Sendable {
    package let value: JSONValue
    /// Members whose object has one of the same name before, in the order of the text.
    package let duplicates: [(path: [String], line: Int)]
    private let lines: [[String]: Int]

    /// A text is no JSON, or is too deep.
    package struct SyntaxError: Error {
        package let error: JSONError
        /// The line where reading stopped, from 1.
        package let line: Int
    }

    /// Reads a text.
    ///
    /// - Parameter text: The text in UTF-8.
    /// - Throws: `SyntaxError`.
    package init(_ text: some Collection<UInt8>) throws(SyntaxError) {
        var parser = JSONParser(text, notesLocations: true)
        do {
            value = try parser.document()
        } catch {
            throw SyntaxError(error: error, line: parser.line)
        }
        lines = parser.locations?.lines ?? [:]
        duplicates = parser.locations?.duplicates ?? []
    }

    /// The line of a member or an element, from 1.
    ///
    /// - Parameter path: The names and positions that lead to it.
    /// - Returns: Its line; when it is missing, that of the member or element that would contain it.
    package func line(of path: [String]) -> Int {
        var path = path[...]
        while !path.isEmpty {
            if let line = lines[Array(path)] { return line }
            path.removeLast()
        }
        return 1
    }
}
