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

    /// What a result says about its command.
    enum Kind {
        case rows
        case failure(PostgresError)
        /// Not run, since an earlier command up to the same sync failed.
        case skipped
        /// Everything up to a sync is done. It is committed unless it failed or a transaction is open.
        case synchronized
        /// The server waits for data or is about to send some, which is not supported.
        case copy
    }

    var kind: Kind {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: .rows
        case PGRES_PIPELINE_ABORTED: .skipped
        case PGRES_PIPELINE_SYNC: .synchronized
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: .copy
        default: .failure(failure)
        }
    }

    private var failure: PostgresError {
        let message = field("M") ?? String(cString: PQresultErrorMessage(result))
        // libpq makes results of its own when the connection breaks; those carry no SQLSTATE. After FATAL and PANIC the
        // session is over.
        guard let code = field("C"), field("V") == "ERROR" else { return .connectionLost(message) }
        return .server(PostgresServerError(sqlState: SQLState(code), message: message))
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
        let cells = cells(rowCount: rowCount, columnCount: columnCount)
        let storage = PostgresRows.Storage(
            columns: columns,
            contents: cells.contents,
            offsets: cells.offsets,
            commandTag: PQcmdStatus(result).map { String(cString: $0) } ?? ""
        )
        return PostgresRows(storage: storage, rowCount: Int(rowCount))
    }

    private func cells(rowCount: Int32, columnCount: Int32) -> (contents: [UInt8], offsets: [Int]) {
        let prefixLength = PostgresRows.Storage.prefixLength
        var size = 0
        for row in 0..<rowCount {
            for column in 0..<columnCount { size += prefixLength + Int(PQgetlength(result, row, column)) }
        }
        // All empty arrays are the same one, and this initializer would write to it.
        guard size > 0 else { return ([], []) }
        var offsets: [Int] = []
        offsets.reserveCapacity(Int(rowCount) * Int(columnCount))
        let contents = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            for row in 0..<rowCount {
                for column in 0..<columnCount {
                    let isNull = PQgetisnull(result, row, column) == 1
                    let length = PQgetlength(result, row, column)
                    buffer.storeBytes(of: isNull ? -1 : length, toByteOffset: count, as: Int32.self)
                    count += prefixLength
                    offsets.append(count)
                    if length > 0, let value = PQgetvalue(result, row, column) {
                        let bytes = UnsafeRawBufferPointer(start: value, count: Int(length))
                        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
                        count += Int(length)
                    }
                }
            }
        }
        return (contents, offsets)
    }
}

extension PostgresRows {
    static let empty = PostgresRows(
        storage: Storage(columns: [], contents: [], offsets: [], commandTag: ""),
        rowCount: 0
    )
}
