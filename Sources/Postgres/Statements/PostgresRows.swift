/// The rows that a statement returned, in the server's order.
///
/// All cells lie in one buffer, so a result of any size costs only a few allocations.
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
        /// All cells, row by row, each after its length as a 32-bit integer in the machine's order; -1 for NULL.
        let contents: [UInt8]
        /// For each cell, row by row, where its bytes begin in `contents`.
        let offsets: [Int]
        /// What was done, such as `INSERT 0 2` (PostgreSQL manual, "Message Formats", CommandComplete).
        let commandTag: String

        /// The number of rows that an INSERT, UPDATE or DELETE touched.
        var affectedRows: Int { commandTag.split(separator: " ").last.flatMap { Int($0) } ?? 0 }

        init(columns: [Column], contents: [UInt8], offsets: [Int], commandTag: String) {
            self.columns = columns
            self.contents = contents
            self.offsets = offsets
            self.commandTag = commandTag
        }

        /// A cell's bytes; nil for NULL.
        func cell(_ index: Int) -> ArraySlice<UInt8>? {
            let start = offsets[index]
            let length = contents.withUnsafeBytes { buffer in
                buffer.loadUnaligned(fromByteOffset: start - Self.prefixLength, as: Int32.self)
            }
            return length < 0 ? nil : contents[start..<start + Int(length)]
        }

        /// The position of a column that must have a type.
        func position<Value>(of column: String, as type: Value.Type) throws(PostgresError) -> Int {
            guard let position = columns.firstIndex(where: { $0.name == column }) else {
                throw .decoding(column: column, expected: "\(type)", found: "no such column")
            }
            return position
        }

        static let prefixLength = MemoryLayout<Int32>.size
    }

    /// All cells' bytes and lengths, in the server's order.
    ///
    /// Two results with one different cell differ here.
    package var contents: [UInt8] { storage.contents }

    init(storage: Storage, rowCount: Int) {
        self.storage = storage
        self.endIndex = rowCount
    }

    /// A column of texts, for callers that only copy the bytes.
    ///
    /// - Parameter name: The column's name in the result.
    /// - Returns: For each row, the text as UTF-8, nil for NULL.
    /// - Throws: `PostgresError.decoding` when there is no such column or it is of another type.
    package func utf8Column(_ name: String) throws(PostgresError) -> PostgresUTF8Column {
        let position = try storage.position(of: name, as: String.self)
        let type = storage.columns[position].type
        guard String.canDecode(type) else {
            throw .decoding(column: name, expected: "\(String.self)", found: type.sqlName)
        }
        return PostgresUTF8Column(storage: storage, position: position)
    }

    package subscript(position: Int) -> PostgresRow {
        PostgresRow(storage: storage, index: position)
    }
}

/// A column of texts as UTF-8.
package struct PostgresUTF8Column: Sendable {
    fileprivate let storage: PostgresRows.Storage
    fileprivate let position: Int

    /// A row's text; nil for NULL.
    package subscript(row: Int) -> ArraySlice<UInt8>? {
        storage.cell(row * storage.columns.count + position)
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
    /// - Throws: `PostgresError.decoding` when there is no such column, it is NULL, malformed or of another
    ///   type.
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
    /// - Throws: `PostgresError.decoding` when there is no such column or it is malformed or of another
    ///   type.
    package func decodeIfPresent<Value: PostgresDecodable>(
        _ column: String,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value? {
        let position = try storage.position(of: column, as: type)
        guard let bytes = storage.cell(index * storage.columns.count + position) else { return nil }
        let found = storage.columns[position].type
        guard Value.canDecode(found) else {
            throw .decoding(column: column, expected: "\(type)", found: found.sqlName)
        }
        do {
            return try Value(postgresBytes: bytes, type: found)
        } catch {
            throw .decoding(column: column, expected: "\(type)", found: error.description(of: found))
        }
    }
}
