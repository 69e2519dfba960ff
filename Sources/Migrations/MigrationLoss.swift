/// What a step loses when it is taken back.
package enum MigrationLoss: Sendable, Equatable {
    case table(String)
    case column(String, of: String)
    /// Some rows, which the step deletes.
    case rows(of: String)

    /// The table that it is about.
    package var table: String {
        switch self {
        case .table(let table), .column(_, let table), .rows(let table): table
        }
    }

    /// Finds what a script drops and deletes, without running it.
    ///
    /// - Parameter script: Plain SQL. What is inside of functions is not looked at.
    /// - Returns: The losses in the script's order.
    static func losses(of script: String) -> [MigrationLoss] {
        script
            .replacing(/--[^\n]*/, with: "")
            .replacing(/\$\$.*?\$\$/.dotMatchesNewlines(), with: "")
            .split(separator: ";")
            .flatMap { losses(ofStatement: String($0)) }
    }

    private static func losses(ofStatement statement: String) -> [MigrationLoss] {
        let words = statement.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if let match = words.wholeMatch(
            of: /DROP TABLE (?:IF EXISTS )?([\w, ]+?)(?: CASCADE| RESTRICT)?/.ignoresCase()
        ) {
            return match.1.split { $0 == "," || $0 == " " }.map { .table(String($0)) }
        }
        if let match = words.prefixMatch(of: /ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+)/.ignoresCase()) {
            return words.matches(of: /DROP COLUMN (?:IF EXISTS )?(\w+)/.ignoresCase()).map {
                .column(String($0.1), of: String(match.1))
            }
        }
        if let match = words.prefixMatch(of: /(?:DELETE FROM|TRUNCATE)(?: TABLE)? (\w+)/.ignoresCase()) {
            return [.rows(of: String(match.1))]
        }
        return []
    }
}

/// A step that is about to be taken back.
package struct RollbackStep: Sendable {
    package let migration: Migration
    /// What is lost, each with the number of rows that its table has now.
    package let losses: [(loss: MigrationLoss, rowCount: Int)]
}

/// Which steps to take back.
package enum RollbackTarget: Sendable {
    /// So many of the last; more than there are takes all back.
    case last(Int)
    /// All after this version, which stays.
    case after(version: String)
}
