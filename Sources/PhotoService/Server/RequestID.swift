import HTTPTypes

/// The id under which one request appears in answers and logs.
enum RequestID {
    static let headerName = HTTPField.Name("X-Request-Id")
    private static let lengthMax = 255

    /// The client's own id, if it is 1 to 255 of `[A-Za-z0-9-]`, or else a new one.
    static func of(_ headers: HTTPFields) -> String {
        guard
            let headerName, let id = headers[headerName],
            (1...lengthMax).contains(id.utf8.count),
            id.utf8.allSatisfy({ isAllowed($0) })
        else { return make() }
        return id
    }

    /// A new id, 128 random bits in hexadecimal.
    static func make() -> String {
        RandomIdentifier.make(length: 32, alphabet: Array("0123456789abcdef"))
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
