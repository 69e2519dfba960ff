/// One step of the schema: a plain SQL file with an up part and a down part.
package struct Migration: Sendable, Equatable {
    /// Fourteen digits, by custom `yyyyMMddHHmmss` in UTC; steps are applied in their order.
    package let version: String
    /// Lower-case words joined by underscores.
    package let name: String
    /// The statements between `-- migrate:up` and `-- migrate:down`.
    package let up: String
    /// The statements after `-- migrate:down`.
    package let down: String
    /// The whole file with its comments, so that an edit is noticed.
    let contents: String

    static let upMarker = "-- migrate:up"
    static let downMarker = "-- migrate:down"

    /// Reads a migration.
    ///
    /// - Parameters:
    ///   - fileName: `<14 digits>_<name>.sql`.
    ///   - contents: The file's text, each marker on a line of its own.
    /// - Throws: `MigrationError.invalidFileName` or `.missingMarker`.
    package init(fileName: String, contents: String) throws(MigrationError) {
        guard let match = fileName.wholeMatch(of: /([0-9]{14})_([a-z0-9_]+)\.sql/) else {
            throw .invalidFileName(fileName)
        }
        // In Swift, CR and LF together are one character.
        let lines = contents.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        func index(of marker: String) throws(MigrationError) -> Int {
            let index = lines.firstIndex { line in
                line.split(whereSeparator: \.isWhitespace).joined(separator: " ") == marker
            }
            guard let index else { throw .missingMarker(fileName: fileName, marker: marker) }
            return index
        }
        let upIndex = try index(of: Self.upMarker)
        let downIndex = try index(of: Self.downMarker)
        guard upIndex < downIndex else { throw .missingMarker(fileName: fileName, marker: Self.upMarker) }
        version = String(match.1)
        name = String(match.2)
        up = lines[(upIndex + 1)..<downIndex].joined(separator: "\n")
        down = lines[(downIndex + 1)...].joined(separator: "\n")
        self.contents = contents
    }
}
