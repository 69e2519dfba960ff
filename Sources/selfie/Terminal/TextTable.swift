/// Columns of text, as commands print them.
enum TextTable {
    /// Lays rows out.
    ///
    /// - Parameters:
    ///   - rows: The heading and the rows, all with the same number of texts.
    ///   - rightAligned: The indices of columns that hold numbers.
    /// - Returns: Lines, without a line break at the end.
    static func text(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return rightAligned.contains(column) ? padding + row[column] : row[column] + padding
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
