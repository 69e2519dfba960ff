package import Postgres

/// Some photos of a list, as the database sent them.
package struct PhotoRows: Sendable {
    package let count: Int
    private let name: PostgresUTF8Column
    private let title: PostgresUTF8Column
    private let randomID: PostgresUTF8Column
    private let createdAt: PostgresUTF8Column
    private let byteCount: PostgresUTF8Column
    private let contentType: PostgresUTF8Column
    private let width: PostgresUTF8Column
    private let height: PostgresUTF8Column

    /// A photo's columns, each as UTF-8.
    package struct Columns: Sendable {
        package let name: ArraySlice<UInt8>
        package let title: ArraySlice<UInt8>
        package let randomID: ArraySlice<UInt8>
        /// Such as `2026-11-22T10:00:00.000Z`.
        ///
        /// Like type and length, it is nil where railsauth did not store it.
        package let createdAt: ArraySlice<UInt8>?
        /// Decimal digits.
        package let byteCount: ArraySlice<UInt8>?
        package let contentType: ArraySlice<UInt8>?
        /// Decimal digits, in pixels.
        ///
        /// Like the height, it is nil until it was measured.
        package let width: ArraySlice<UInt8>?
        package let height: ArraySlice<UInt8>?
    }

    /// The columns of a photo, in the forms of ``Columns``.
    static let columns: PostgresQuery = """
        name, title, random_id, to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at,
        byte_count::text AS byte_count, content_type, width::text AS width, height::text AS height
        """

    /// - Parameter rows: Rows with ``columns``.
    /// - Throws: `PostgresError` for rows without them.
    init(_ rows: PostgresRows) throws(PostgresError) {
        count = rows.count
        name = try rows.utf8Column("name")
        title = try rows.utf8Column("title")
        randomID = try rows.utf8Column("random_id")
        createdAt = try rows.utf8Column("created_at")
        byteCount = try rows.utf8Column("byte_count")
        contentType = try rows.utf8Column("content_type")
        width = try rows.utf8Column("width")
        height = try rows.utf8Column("height")
    }

    /// A photo, by its index in `0..<count`.
    package subscript(row: Int) -> Columns {
        Columns(
            name: name[row] ?? [],
            title: title[row] ?? [],
            randomID: randomID[row] ?? [],
            createdAt: createdAt[row],
            byteCount: byteCount[row],
            contentType: contentType[row],
            width: width[row],
            height: height[row]
        )
    }
}

extension PhotoRows.Columns {
    /// Reads a photo of a row with other columns, too.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - createdAtName: The column with the time of the upload.
    /// - Throws: `PostgresError` for a row without the columns.
    package init(_ row: PostgresRow, createdAt createdAtName: String) throws(PostgresError) {
        func utf8(_ name: String) throws(PostgresError) -> ArraySlice<UInt8>? {
            try row.decodeIfPresent(name, as: String.self).map { ArraySlice($0.utf8) }
        }
        self.init(
            name: try utf8("name") ?? [],
            title: try utf8("title") ?? [],
            randomID: try utf8("random_id") ?? [],
            createdAt: try utf8(createdAtName),
            byteCount: try utf8("byte_count"),
            contentType: try utf8("content_type"),
            width: try utf8("width"),
            height: try utf8("height")
        )
    }
}
