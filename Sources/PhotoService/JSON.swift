import HTTPTypes
import Hummingbird
import NIOCore

/// The name of a member, with what JSON has around it; names are identifiers, which need no escaping.
struct JSONKey: ExpressibleByStringLiteral {
    /// What comes before a value, such as `,"name":`.
    let beforeValue: [UInt8]
    /// What comes before a string, such as `,"name":"`.
    let beforeString: [UInt8]

    init(stringLiteral name: StaticString) {
        beforeValue = Array(",\"\(name)\":".utf8)
        beforeString = beforeValue + [UInt8(ascii: "\"")]
    }
}

/// Writes one JSON value, keeping members in the order in which they are added, as the contract lists them.
struct JSONWriter {
    private var bytes: [UInt8] = []
    private var needsComma = false

    init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// What was written, as UTF-8.
    var buffer: ByteBuffer { ByteBuffer(bytes: bytes) }

    mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
        try nest(open: UInt8(ascii: "{"), close: UInt8(ascii: "}"), members)
    }

    mutating func array<Element>(
        _ elements: some Sequence<Element>,
        each: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        try nest(open: UInt8(ascii: "["), close: UInt8(ascii: "]")) { json in
            for element in elements { try each(&json, element) }
        }
    }

    mutating func member(_ key: JSONKey, _ value: String?) {
        guard var value else {
            add(key.beforeValue)
            return append("null")
        }
        value.withUTF8 { utf8 in
            add(key.beforeString)
            escape(UnsafeRawBufferPointer(utf8))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds a string that is UTF-8 already.
    mutating func member(_ key: JSONKey, utf8 value: ArraySlice<UInt8>) {
        add(key.beforeString)
        value.withUnsafeBytes { escape($0) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds a string whose bytes need no escaping.
    ///
    /// - Parameters:
    ///   - key: The member's name.
    ///   - append: Appends the string's bytes to what was written so far.
    mutating func member(_ key: JSONKey, plain append: (inout [UInt8]) -> Void) {
        add(key.beforeString)
        append(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func member(_ key: JSONKey, _ value: Int) {
        add(key.beforeValue)
        bytes += String(value).utf8
    }

    private mutating func nest(
        open: UInt8,
        close: UInt8,
        _ body: (inout JSONWriter) throws -> Void
    ) rethrows {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        bytes.append(open)
        needsComma = false
        try body(&self)
        bytes.append(close)
        needsComma = true
    }

    /// Adds a key, which begins with the comma before it.
    private mutating func add(_ key: [UInt8]) {
        bytes.append(contentsOf: needsComma ? key[...] : key.dropFirst())
        needsComma = true
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Escapes what RFC 8259 section 7 says must be, and writes the rest as UTF-8.
    private mutating func escape(_ text: UnsafeRawBufferPointer) {
        var start = 0
        for index in text.indices where Self.needsEscape(text[index]) {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<index]))
            escape(text[index])
            start = index + 1
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start...]))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x22 || byte == 0x5C
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case 0x22: append("\\\"")
        case 0x5C: append("\\\\")
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        default:
            let digits = String(byte, radix: 16)
            bytes += ("\\u00" + (digits.count < 2 ? "0" : "") + digits).utf8
        }
    }
}

extension Response {
    /// An answer whose body is one JSON object.
    static func json(status: HTTPResponse.Status = .ok, _ members: (inout JSONWriter) -> Void) -> Response {
        var json = JSONWriter()
        json.object(members)
        return Response(json, status: status)
    }

    /// The answer of the contract's calls that have nothing else to say.
    static func message(_ message: String) -> Response {
        .json { json in
            json.member("status", 200)
            json.member("message", message)
        }
    }

    /// An answer whose body is the JSON that was written.
    init(_ json: JSONWriter, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: json.buffer)
        )
    }

    /// Forbids every cache, since the answer holds a token.
    func notStored() -> Response {
        var response = self
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
