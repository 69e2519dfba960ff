import Encodings
package import HTTPTypes
import Synchronization

/// The id under which one request appears in answers and logs.
package enum RequestIdentifier {
    package static let headerName = HTTPField.Name("X-Request-Id")
    private static let maxLength = 255

    /// The client's own id, if it is 1 to 255 of `[A-Za-z0-9-]`, or else a new one.
    package static func of(_ headers: HTTPFields) -> String {
        guard
            let headerName, let id = headers[headerName],
            (1...maxLength).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") })
        else { return make() }
        return id
    }

    /// Gives a request an id if it has none, so that all layers use the same one.
    static func name(_ headers: inout HTTPFields) -> String {
        let id = of(headers)
        if let headerName { headers[headerName] = id }
        return id
    }

    /// A new id of 32 hexadecimal digits.
    ///
    /// Half of them are random for the process; half are the request's number.
    static func make() -> String {
        processID + hexadecimal(count.add(1, ordering: .relaxed).newValue)
    }

    private static let processID = hexadecimal(.random(in: 0 ... .max))
    private static let count = Atomic<UInt64>(0)

    private static func hexadecimal(_ number: UInt64) -> String {
        withUnsafeBytes(of: number.bigEndian) { $0.hexadecimal }
    }
}
