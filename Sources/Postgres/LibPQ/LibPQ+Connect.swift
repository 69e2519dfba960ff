import CLibPQ
import Concurrency
import Glibc

extension LibPQ {
    /// What is asked of every connection unless its URL says otherwise.
    ///
    /// A silent peer is given up after half a minute (tcp(7)).
    private static let defaults = [
        "client_encoding": "UTF8",
        "keepalives": "1",
        "keepalives_idle": "15",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "30000",
    ]

    /// Connects, which blocks the thread: for the look-up of names, and for one host after another.
    ///
    /// - Parameters:
    ///   - url: A `postgresql://` URL or a keyword/value string.
    ///   - parameters: What is asked of the connection unless its URL says otherwise, by libpq's keywords.
    /// - Returns: A connection in pipeline mode that never blocks.
    /// - Throws: `PostgresError.cannotConnect`, with libpq's reason.
    static func connect(url: String, parameters: [String: String]) throws(PostgresError) -> LibPQ {
        let parameters = defaults.merging(parameters) { $1 }
        let keywords = Array(parameters.keys) + ["dbname"]
        let values = Array(parameters.values) + [url]
        let pointer = withCStrings(keywords) { keywords in
            withCStrings(values) { values in PQconnectdbParams(keywords, values, 1) }
        }
        guard let pointer else { throw .cannotConnect("out of memory") }
        let libpq = LibPQ(pointer)
        guard PQstatus(pointer) == CONNECTION_OK else { throw .cannotConnect(libpq.lastError) }
        guard PQsetnonblocking(pointer, 1) == 0, PQenterPipelineMode(pointer) == 1 else {
            throw .cannotConnect(libpq.lastError)
        }
        return libpq
    }

    /// Connects on a thread of its own, since libpq waits for the look-up of names.
    ///
    /// - Parameters:
    ///   - url: A `postgresql://` URL or a keyword/value string.
    ///   - parameters: What is asked of the connection unless its URL says otherwise, by libpq's keywords.
    ///   - completion: Called on that thread, or at once when there is none.
    static func connect(
        url: String,
        parameters: [String: String],
        completion: @escaping @Sendable (Result<Handover<LibPQ>, PostgresError>) -> Void
    ) {
        let hasBegun = DetachedThread.run("pg connect") {
            do throws(PostgresError) {
                completion(.success(Handover(try LibPQ.connect(url: url, parameters: parameters))))
            } catch {
                completion(.failure(error))
            }
        }
        if !hasBegun { completion(.failure(.cannotConnect("the system has no thread for it"))) }
    }

    /// Why libpq refuses `url` as a connection string, or nil when it takes it.
    static func error(inURL url: String) -> String? {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            defer { PQfreemem(message) }
            return message.map { String(cString: $0) } ?? "out of memory"
        }
        defer { PQconninfoFree(options) }
        return misreading(of: options)
    }

    /// What a connection string sets, by libpq's keywords.
    static func options(ofURL url: String) -> [String: String] {
        guard let options = PQconninfoParse(url, nil) else { return [:] }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }

    /// Why options are surely a mistake, although libpq takes them.
    ///
    /// A password with a bare `@` or `/` splits a URL wrongly. libpq would then quote parts of the password as
    /// a host or a port.
    private static func misreading(of options: UnsafeMutablePointer<PQconninfoOption>) -> String? {
        var option = options
        while let keyword = option.pointee.keyword {
            defer { option += 1 }
            guard let value = option.pointee.val.map({ String(cString: $0) }) else { continue }
            switch String(cString: keyword) {
            case "host" where value.contains("@"), "dbname" where value.contains("@"):
                return "an @ in the user or password must be written %40"
            case "port" where !value.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ",") }):
                return "the port is not a number; a / in the user or password must be written %2F"
            default: continue
            }
        }
        return nil
    }
}

/// Passes an array of C strings that ends with a null pointer.
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
