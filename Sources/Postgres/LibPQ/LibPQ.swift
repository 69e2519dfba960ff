import CLibPQ

/// One of libpq's connections.
///
/// Only this file and `LibPQ+Connect.swift` call its functions.
///
/// None of these calls waits for the network. Used from one thread at a time. Closes the connection when it is dropped.
struct LibPQ: ~Copyable {
    let connection: OpaquePointer
    private let unconfirmedCommit: UnsafeMutablePointer<Bool>

    init(_ connection: OpaquePointer) {
        self.connection = connection
        unconfirmedCommit = .allocate(capacity: 1)
        unconfirmedCommit.initialize(to: false)
        // Without a receiver, libpq prints the server's notices to standard error.
        _ = PQsetNoticeReceiver(connection, { noteUnconfirmedCommit($0, $1) }, unconfirmedCommit)
    }

    deinit {
        PQfinish(connection)
        unconfirmedCommit.deallocate()
    }

    /// Whether the server stopped waiting for a synchronous standby, and committed alone.
    ///
    /// A failover may lose such a commit. The server says so in a warning, and reports success.
    var hasUnconfirmedCommit: Bool { unconfirmedCommit.pointee }

    /// The descriptor of the socket; nil once libpq has closed it, which it does when the connection breaks.
    var socket: CInt? {
        let socket = PQsocket(connection)
        return socket < 0 ? nil : socket
    }

    /// Whether the connection is beyond use.
    var isBroken: Bool { PQstatus(connection) != CONNECTION_OK }

    /// The process that the server named when the connection was opened.
    ///
    /// A pooler names a number of its own.
    var processID: Int { Int(PQbackendPID(connection)) }

    /// Whether a transaction is open, sound or failed.
    var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

    /// Whether a statement that is sent now is part of a transaction that ends after it.
    ///
    /// False while another statement is under way.
    var isInOpenBlock: Bool { [PQTRANS_INTRANS, PQTRANS_INERROR].contains(PQtransactionStatus(connection)) }

    var lastError: String { String(cString: PQerrorMessage(connection)) }

    /// Queues the preparation of a statement.
    func sendPrepare(name: String, query: PostgresQuery) throws(PostgresError) {
        let types = query.parameters.map { $0.type.rawValue }
        try check(PQsendPrepare(connection, name, query.sql, Int32(types.count), types))
    }

    /// Queues the execution of a prepared statement, with parameters and results in binary.
    func sendExecute(name: String, query: PostgresQuery) throws(PostgresError) {
        let isSent = withBytes(query.parameters) { pointers, lengths, formats in
            PQsendQueryPrepared(connection, name, Int32(pointers.count), pointers, lengths, formats, 1)
        }
        try check(isSent)
    }

    /// Queues a statement that is parsed for this one use.
    func sendUnprepared(_ query: PostgresQuery) throws(PostgresError) {
        let types = query.parameters.map { $0.type.rawValue }
        let isSent = withBytes(query.parameters) { pointers, lengths, formats in
            PQsendQueryParams(connection, query.sql, Int32(types.count), types, pointers, lengths, formats, 1)
        }
        try check(isSent)
    }

    /// Queues the end of an implicit transaction, so that later statements do not depend on earlier ones.
    func sendSync() throws(PostgresError) {
        try check(PQpipelineSync(connection))
    }

    /// Queues statements separated by semicolons; outside of pipeline mode only.
    func sendScript(_ script: String) throws(PostgresError) {
        try check(PQsendQuery(connection, script))
    }

    /// Changes between pipeline mode and one script at a time; nothing may be under way.
    func setPipelineMode(_ isOn: Bool) throws(PostgresError) {
        try check(isOn ? PQenterPipelineMode(connection) : PQexitPipelineMode(connection))
    }

    /// Writes what is queued as far as the socket takes it.
    ///
    /// - Returns: Whether all is written.
    /// - Throws: `PostgresError.connectionLost`.
    func flush() throws(PostgresError) -> Bool {
        switch PQflush(connection) {
        case 0: return true
        case 1: return false
        default: throw .connectionLost(lastError)
        }
    }

    /// Reads what the socket has.
    ///
    /// False means that the connection ended; results may have come before that.
    func consumeInput() -> Bool {
        // A call may leave a part of a TLS record in memory, and the socket does not show that.
        repeat {
            guard PQconsumeInput(connection) == 1 else { return false }
        } while libpq_has_pending_bytes(connection) == 1
        return true
    }

    /// The next notification that has arrived.
    func nextNotification() -> PostgresNotification? {
        guard let notification = PQnotifies(connection) else { return nil }
        defer { PQfreemem(notification) }
        return PostgresNotification(
            channel: String(cString: notification.pointee.relname),
            payload: String(cString: notification.pointee.extra),
            processID: notification.pointee.be_pid
        )
    }

    /// Whether the next result has not arrived yet.
    var isBusy: Bool { PQisBusy(connection) == 1 }

    /// The next result of what was sent; nil where one command's results end.
    ///
    /// It may wait when `isBusy`.
    func nextResult() -> LibPQResult? {
        PQgetResult(connection).map { LibPQResult($0) }
    }

    /// What cancels the statement that runs; it can be used on another thread.
    func cancelRequest() -> CancelRequest? {
        PQgetCancel(connection).map { CancelRequest(address: UInt(bitPattern: $0)) }
    }

    private func check(_ isSuccess: CInt) throws(PostgresError) {
        if isSuccess != 1 { throw .connectionLost(lastError) }
    }
}

/// Lays parameters out one after another: libpq takes pointers that must all be valid at the same time.
private func withBytes<Result>(
    _ parameters: [PostgresValue],
    _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
) -> Result {
    var joined: [UInt8] = []
    for parameter in parameters { joined += parameter.bytes ?? [] }
    // One spare byte keeps an empty parameter's address from being null, which would mean NULL.
    joined.append(0)
    return joined.withUnsafeBytes { buffer in
        var offset = 0
        var pointers: [UnsafePointer<CChar>?] = []
        for parameter in parameters {
            let start = buffer.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            pointers.append(parameter.bytes == nil ? nil : start)
            offset += parameter.bytes?.count ?? 0
        }
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        return body(pointers, lengths, [Int32](repeating: 1, count: parameters.count))
    }
}

/// Reads a notice of the server.
///
/// PostgreSQL's source, src/backend/replication/syncrep.c: only this function warns of a wait that was cancelled. Its
/// name is part of the notice, and is never translated as the text is.
private func noteUnconfirmedCommit(_ flag: UnsafeMutableRawPointer?, _ notice: OpaquePointer?) {
    let function = PQresultErrorField(notice, Int32(UnicodeScalar("R").value)).map { String(cString: $0) }
    if function == "SyncRepWaitForLSN" { flag?.storeBytes(of: true, as: Bool.self) }
}
