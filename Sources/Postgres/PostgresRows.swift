/// The rows that a statement returned, in the server's order.
///
/// All cells lie in one buffer, so that a result costs a handful of allocations however many rows it has.
package struct PostgresRows: Sendable, RandomAccessCollection {
    let storage: Storage
    package let startIndex = 0
    package let endIndex: Int

    struct Column: Sendable {
        let name: String
        let type: PostgresType
    }

    final class Storage: Sendable {
        let columns: [Column]
        let bytes: [UInt8]
        /// For each cell, row by row, where it begins and ends in `bytes`; nil for NULL.
        let cells: [Range<Int>?]
        /// The number of rows that an INSERT, UPDATE or DELETE touched.
        let affectedRows: Int

        init(columns: [Column], bytes: [UInt8], cells: [Range<Int>?], affectedRows: Int) {
            self.columns = columns
            self.bytes = bytes
            self.cells = cells
            self.affectedRows = affectedRows
        }
    }

    init(storage: Storage, rowCount: Int) {
        self.storage = storage
        self.endIndex = rowCount
    }

    package subscript(position: Int) -> PostgresRow {
        PostgresRow(storage: storage, index: position)
    }
}

/// One row of a result; cells are read by column name.
package struct PostgresRow: Sendable {
    fileprivate let storage: PostgresRows.Storage
    fileprivate let index: Int

    fileprivate init(storage: PostgresRows.Storage, index: Int) {
        self.storage = storage
        self.index = index
    }

    /// Reads a column that is not NULL.
    ///
    /// - Parameters:
    ///   - column: The column's name in the result.
    ///   - type: The type to read it as.
    /// - Returns: The value.
    /// - Throws: `PostgresError.decoding` when there is no such column, it is NULL or of another type.
    package func decode<Value: PostgresDecodable>(
        _ column: String,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard let value = try decodeIfPresent(column, as: type) else {
            throw .decoding(column: column, expected: "\(type)", found: "NULL")
        }
        return value
    }

    /// Reads a column that may be NULL.
    ///
    /// - Parameters:
    ///   - column: The column's name in the result.
    ///   - type: The type to read it as.
    /// - Returns: The value, or nil for NULL.
    /// - Throws: `PostgresError.decoding` when there is no such column or it is of another type.
    package func decodeIfPresent<Value: PostgresDecodable>(
        _ column: String,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value? {
        guard let position = storage.columns.firstIndex(where: { $0.name == column }) else {
            throw .decoding(column: column, expected: "\(type)", found: "no such column")
        }
        guard let range = storage.cells[index * storage.columns.count + position] else { return nil }
        let found = storage.columns[position].type
        guard Value.postgresTypes.contains(found), let value = Value(postgresBytes: storage.bytes[range]) else {
            throw .decoding(column: column, expected: "\(type)", found: "type \(found.rawValue)")
        }
        return value
    }
}
