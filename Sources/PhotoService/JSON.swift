import HTTPTypes
import Hummingbird
import NIOCore

/// Writes one JSON value, keeping members in the order in which they are added, as the contract lists them.
struct JSONWriter {
    private(set) var buffer: ByteBuffer
    private var needsComma = false

    init(capacity: Int = 256) {
        buffer = ByteBufferAllocator().buffer(capacity: capacity)
    }

    mutating func object(_ members: (inout JSONWriter) -> Void) {
        nest(open: "{", close: "}", members)
    }

    mutating func array<Element>(_ elements: some Sequence<Element>, each: (inout JSONWriter, Element) -> Void) {
        nest(open: "[", close: "]") { json in
            for element in elements { each(&json, element) }
        }
    }

    mutating func member(_ name: StaticString, _ value: String?) {
        key(name)
        if let value { string(value) } else { buffer.writeStaticString("null") }
    }

    mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        buffer.writeString(String(value))
    }

    private mutating func nest(open: StaticString, close: StaticString, _ body: (inout JSONWriter) -> Void) {
        separate()
        buffer.writeStaticString(open)
        needsComma = false
        body(&self)
        buffer.writeStaticString(close)
        needsComma = true
    }

    /// Names are identifiers, so they need no escaping.
    private mutating func key(_ name: StaticString) {
        separate()
        buffer.writeStaticString("\"")
        buffer.writeStaticString(name)
        buffer.writeStaticString("\":")
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { buffer.writeStaticString(",") }
    }

    /// Escapes what RFC 8259 section 7 says must be, and writes the rest as UTF-8.
    private mutating func string(_ value: String) {
        buffer.writeStaticString("\"")
        var value = value
        value.withUTF8 { bytes in
            var start = 0
            for (index, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start..<index]))
                escape(byte)
                start = index + 1
            }
            buffer.writeBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start...]))
        }
        buffer.writeStaticString("\"")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case 0x22: buffer.writeStaticString("\\\"")
        case 0x5C: buffer.writeStaticString("\\\\")
        case 0x0A: buffer.writeStaticString("\\n")
        case 0x0D: buffer.writeStaticString("\\r")
        case 0x09: buffer.writeStaticString("\\t")
        default:
            let digits = String(byte, radix: 16)
            buffer.writeString("\\u00" + (digits.count < 2 ? "0" : "") + digits)
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
