/// What a step loses when it is taken back.
package enum MigrationLoss: Sendable, Equatable {
    case table(String)
    case column(String, of: String)
    /// Some rows, which the step deletes.
    case rows(of: String)
    /// Nobody can tell without running it. The text is the beginning of the statement.
    case unknown(statement: String)

    /// The table that it is about; nil when that is not known.
    ///
    /// Its name has letters, digits and underscores alone.
    package var table: String? {
        switch self {
        case .table(let table), .column(_, let table), .rows(let table): table
        case .unknown: nil
        }
    }

    /// Finds what a script drops and deletes, without running it.
    ///
    /// - Parameter script: SQL. What is inside of functions is not looked at.
    /// - Returns: The losses in the script's order. A statement that is not known to be harmless is an unknown loss.
    static func losses(of script: String) -> [MigrationLoss] {
        script
            .replacing(notCode) { match in match.output.0.hasPrefix("'") ? "''" : "" }
            .split(separator: ";")
            .flatMap { losses(ofStatement: $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")) }
    }

    /// Comments, bodies of functions, and texts, each from its beginning, so that none is taken for a part of another.
    private static var notCode: Regex<(Substring, Substring?)> {
        /--[^\n]*|\/\*.*?\*\/|\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'/.dotMatchesNewlines()
    }

    private static func losses(ofStatement statement: String) -> [MigrationLoss] {
        if statement.isEmpty || isHarmless(statement) { return [] }
        if let match = statement.wholeMatch(
            of: /DROP TABLE (?:IF EXISTS )?(\w+(?: ?, ?\w+)*)(?: CASCADE| RESTRICT)?/.ignoresCase()
        ) {
            return match.1.split { $0 == "," || $0 == " " }.map { .table(String($0)) }
        }
        if let match = statement.wholeMatch(of: /ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) (.+)/.ignoresCase()) {
            let losses = match.2.split(separator: ",").flatMap {
                loss(ofAction: $0, onTable: String(match.1), in: statement)
            }
            return losses.contains(unknown(statement)) ? [unknown(statement)] : losses
        }
        if let match = statement.prefixMatch(of: /(?:DELETE FROM|TRUNCATE)(?: TABLE)? (\w+)(?= |$)/.ignoresCase()) {
            return [.rows(of: String(match.1))]
        }
        return [unknown(statement)]
    }

    private static func loss(ofAction action: Substring, onTable table: String, in statement: String) -> [MigrationLoss]
    {
        let action = action.drop { $0 == " " }
        if action.prefixMatch(of: harmlessAction) != nil { return [] }
        if let match = action.wholeMatch(
            of: /DROP (?:COLUMN )?(?:IF EXISTS )?(\w+) ?(?:CASCADE|RESTRICT)?/.ignoresCase()
        ) {
            return [.column(String(match.1), of: table)]
        }
        return [unknown(statement)]
    }

    private static func unknown(_ statement: String) -> MigrationLoss {
        .unknown(statement: String(statement.prefix(maxShownCharacters)))
    }

    private static let maxShownCharacters = 60

    /// Whether a statement deletes and changes no rows.
    private static func isHarmless(_ statement: String) -> Bool {
        statement.prefixMatch(of: /(?:DROP (?:INDEX|TRIGGER|FUNCTION|VIEW)|CREATE|COMMENT|INSERT)\b/.ignoresCase())
            != nil
            && !statement.contains(/DO UPDATE/.ignoresCase())
    }

    /// Changes of a table that delete nothing.
    private static var harmlessAction: Regex<Substring> {
        /(?:DROP CONSTRAINT|ADD|RENAME|ALTER (?:COLUMN )?\w+ (?:SET|DROP) (?:NOT NULL|DEFAULT))(?: .*)?/.ignoresCase()
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
