import CLibPQ
import Glibc

/// The one place that calls libpq's connection functions; each call's result is checked here.
///
/// Used from one thread at a time. Closes the connection when it is dropped.
struct LibPQ: ~Copyable {
    private let connection: OpaquePointer

    private init(_ connection: OpaquePointer) {
        self.connection = connection
    }

    /// Begins to connect, without waiting for the network (but for the look-up of a host's name).
    ///
    /// - Parameter url: A `postgresql://` URL or a keyword/value string.
    /// - Returns: A connection that `connect(by:)` must finish.
    /// - Throws: `PostgresError.cannotConnect` when libpq can't even begin.
    static func begin(url: String) throws(PostgresError) -> LibPQ {
        let keywords = ["fallback_application_name", "client_encoding", "dbname"]
        let values = ["selfie", "UTF8", url]
        let pointer = withCStrings(keywords) { keywords in
            withCStrings(values) { values in PQconnectStartParams(keywords, values, 1) }
        }
        guard let pointer else { throw .cannotConnect("out of memory") }
        let libpq = LibPQ(pointer)
        guard PQstatus(pointer) != CONNECTION_BAD else { throw .cannotConnect(libpq.lastError) }
        // Without a receiver, libpq prints the server's notices to standard error.
        _ = PQsetNoticeReceiver(pointer, { _, _ in }, nil)
        return libpq
    }

    deinit {
        PQfinish(connection)
    }

    /// Why libpq refuses `url` as a connection string, or nil when it takes it.
    static func complaint(aboutURL url: String) -> String? {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            defer { PQfreemem(message) }
            return message.map { String(cString: $0) } ?? "out of memory"
        }
        defer { PQconninfoFree(options) }
        return misreading(of: options)
    }

    /// Why options can't be what was meant, although libpq takes them.
    ///
    /// A password with a bare `@` or `/` cuts a URL in the wrong place; libpq would then quote parts of the password
    /// as a host or a port that it can't make sense of.
    private static func misreading(of options: UnsafeMutablePointer<PQconninfoOption>) -> String? {
        var option = options
        while let keyword = option.pointee.keyword {
            defer { option += 1 }
            guard let value = option.pointee.val.map({ String(cString: $0) }) else { continue }
            switch String(cString: keyword) {
            case "host" where value.contains("@"), "dbname" where value.contains("@"):
                return "an @ in the user or password must be written %40"
            case "port" where !value.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ",") }):
                return "the port is no number; a / in the user or password must be written %2F"
            default: continue
            }
        }
        return nil
    }

    /// Finishes connecting.
    func connect(by deadline: Deadline) throws(PostgresError) {
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            switch state {
            case PGRES_POLLING_FAILED: throw .cannotConnect(lastError)
            case PGRES_POLLING_READING: try wait(for: POLLIN, by: deadline, otherwise: .cannotConnect("timed out"))
            default: try wait(for: POLLOUT, by: deadline, otherwise: .cannotConnect("timed out"))
            }
            state = PQconnectPoll(connection)
        }
        guard PQsetnonblocking(connection, 1) == 0 else { throw .cannotConnect(lastError) }
    }

    /// Whether the server has closed an idle connection; a look at the socket that never waits.
    func isDead() -> Bool {
        var descriptor = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
        // A server that ends a session says why first: the first look finds the reason, only the next one the end.
        for _ in 0..<Self.looksMax where poll(&descriptor, 1, 0) != 0 {
            if PQconsumeInput(connection) == 0 { return true }
        }
        return PQstatus(connection) != CONNECTION_OK
    }

    private static let looksMax = 4

    /// Whether a transaction is open, sound or failed.
    var isInTransaction: Bool {
        PQtransactionStatus(connection) != PQTRANS_IDLE
    }

    /// Whether a transaction is open of which a statement failed.
    var hasFailedTransaction: Bool {
        PQtransactionStatus(connection) == PQTRANS_INERROR
    }

    func prepare(name: String, query: PostgresQuery, by deadline: Deadline) throws(PostgresError) {
        let types = query.parameters.map(\.type.rawValue)
        guard PQsendPrepare(connection, name, query.sql, Int32(types.count), types) == 1 else {
            throw .connectionLost(lastError)
        }
        _ = try results(by: deadline)
    }

    func execute(
        prepared name: String,
        query: PostgresQuery,
        by deadline: Deadline
    ) throws(PostgresError) -> PostgresRows {
        let parameters = query.parameters
        let isSent = withBytes(parameters.map(\.bytes)) { pointers, lengths in
            let formats = [Int32](repeating: 1, count: parameters.count)
            return PQsendQueryPrepared(connection, name, Int32(parameters.count), pointers, lengths, formats, 1)
        }
        guard isSent == 1 else { throw .connectionLost(lastError) }
        return try results(by: deadline)
    }

    /// Runs statements separated by semicolons, in one implicit transaction unless they open their own.
    func execute(script: String, by deadline: Deadline) throws(PostgresError) -> PostgresRows {
        guard PQsendQuery(connection, script) == 1 else { throw .connectionLost(lastError) }
        return try results(by: deadline)
    }

    /// Reads all results of what was sent; the last one's rows, or the first error.
    private func results(by deadline: Deadline) throws(PostgresError) -> PostgresRows {
        try flush(by: deadline)
        var rows = PostgresRows.empty
        var failure: PostgresError?
        while true {
            while PQisBusy(connection) == 1 {
                try wait(for: POLLIN, by: deadline, otherwise: .statementTimedOut)
                guard PQconsumeInput(connection) == 1 else { throw .connectionLost(lastError) }
            }
            guard let pointer = PQgetResult(connection) else { break }
            let result = LibPQResult(pointer)
            // libpq would go on returning such a result until the data was sent, which never happens.
            guard !result.beginsCopy else { throw .connectionLost("COPY from or to the client is not supported") }
            if let error = result.error {
                failure = failure ?? error
            } else {
                rows = result.rows()
            }
        }
        if PQstatus(connection) == CONNECTION_BAD { throw failure ?? .connectionLost(lastError) }
        if let failure { throw failure }
        return rows
    }

    private func flush(by deadline: Deadline) throws(PostgresError) {
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1:
                // The server may be blocked on its own answer, so reading must go on while writing.
                try wait(for: POLLIN | POLLOUT, by: deadline, otherwise: .statementTimedOut)
                guard PQconsumeInput(connection) == 1 else { throw .connectionLost(lastError) }
            default: throw .connectionLost(lastError)
            }
        }
    }

    private func wait(for events: Int32, by deadline: Deadline, otherwise error: PostgresError) throws(PostgresError) {
        var descriptor = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
        while true {
            let ready = poll(&descriptor, 1, deadline.millisecondsLeft)
            if ready > 0 { return }
            if ready == 0 { throw error }
            guard errno == EINTR else { throw .connectionLost("poll: errno \(errno)") }
        }
    }

    private var lastError: String {
        String(cString: PQerrorMessage(connection))
    }
}

private func withCStrings<Result>(
    _ strings: [String],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    let pointers = copies.map { UnsafePointer($0) } + [nil]
    return pointers.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { return body([nil]) }
        return body(base)
    }
}

/// Lays parameters out one after another, since libpq takes an array of pointers that must live at the same time.
private func withBytes<Result>(
    _ parameters: [[UInt8]?],
    _ body: ([UnsafePointer<CChar>?], [Int32]) -> Result
) -> Result {
    // One spare byte keeps an empty parameter's address from being null, which would mean NULL.
    let joined = parameters.compactMap(\.self).joined() + [0]
    return joined.withUnsafeBytes { buffer in
        var offset = 0
        var pointers: [UnsafePointer<CChar>?] = []
        for parameter in parameters {
            let start = buffer.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            pointers.append(parameter == nil ? nil : start)
            offset += parameter?.count ?? 0
        }
        return body(pointers, parameters.map { Int32($0?.count ?? 0) })
    }
}
