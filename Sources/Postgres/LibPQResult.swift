import CLibPQ

/// One result of libpq's; freed when it is dropped.
struct LibPQResult: ~Copyable {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    /// Whether the server now waits for data, or would send some.
    var beginsCopy: Bool {
        [PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH].contains(PQresultStatus(result))
    }

    /// The server's refusal, if this result is one.
    var error: PostgresError? {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: nil
        default: failure
        }
    }

    private var failure: PostgresError {
        let message = field("M") ?? String(cString: PQresultErrorMessage(result))
        // libpq makes results of its own when the connection breaks; those carry no SQLSTATE.
        guard let sqlState = field("C") else { return .connectionLost(message) }
        return .server(
            PostgresServerError(sqlState: SQLState(rawValue: sqlState), message: message, constraint: field("n"))
        )
    }

    /// One field of an error, by its letter (PostgreSQL manual, section 55.8 "Error and Notice Message Fields").
    private func field(_ code: Unicode.Scalar) -> String? {
        PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
    }

    /// Copies the rows out, so that they outlive this result.
    func rows() -> PostgresRows {
        let rowCount = PQntuples(result)
        let columnCount = PQnfields(result)
        let columns = (0..<columnCount).map { column in
            PostgresRows.Column(
                name: PQfname(result, column).map { String(cString: $0) } ?? "",
                type: PostgresType(rawValue: PQftype(result, column))
            )
        }
        var bytes: [UInt8] = []
        var cells: [Range<Int>?] = []
        cells.reserveCapacity(Int(rowCount * columnCount))
        for row in 0..<rowCount {
            for column in 0..<columnCount {
                guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column) else {
                    cells.append(nil)
                    continue
                }
                let start = bytes.count
                bytes.append(
                    contentsOf: UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(result, row, column)))
                )
                cells.append(start..<bytes.count)
            }
        }
        let affected = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        let storage = PostgresRows.Storage(columns: columns, bytes: bytes, cells: cells, affectedRows: affected)
        return PostgresRows(storage: storage, rowCount: Int(rowCount))
    }
}

extension PostgresRows {
    static let empty = PostgresRows(storage: Storage(columns: [], bytes: [], cells: [], affectedRows: 0), rowCount: 0)
}
