package import Encodings
package import NIOCore
import OrderedCollections

/// The name of a member, an identifier, which needs no escaping.
package struct JSONKey: ExpressibleByStringLiteral {
    let name: StaticString

    package init(stringLiteral name: StaticString) {
        self.name = name
    }
}

/// Writes one JSON value, keeping members in the order in which they are added, as the contract lists them.
package struct JSONWriter: ~Copyable {
    private var text: TextBuffer
    private var needsComma: Bool

    /// - Parameters:
    ///   - capacity: About how many bytes will be written.
    ///   - isAfterElement: Whether what is written continues an array that has elements already.
    package init(capacity: Int = 256, isAfterElement: Bool = false) {
        text = TextBuffer(capacity: capacity)
        needsComma = isAfterElement
    }

    /// How many bytes were written.
    package var byteCount: Int { text.byteCount }

    /// What was written, as UTF-8.
    package var buffer: ByteBuffer { text.buffer }

    /// What was written.
    package var string: String { text.string }

    /// Writes an object.
    ///
    /// - Parameter members: Adds its members.
    /// - Throws: What the closure throws.
    package mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
        begin("{")
        try members(&self)
        end("}")
    }

    /// Writes an array.
    ///
    /// - Parameter elements: Writes its elements.
    /// - Throws: What the closure throws.
    package mutating func array(_ elements: (inout JSONWriter) throws -> Void) rethrows {
        begin("[")
        try elements(&self)
        end("]")
    }

    /// Writes an array.
    ///
    /// - Parameters:
    ///   - elements: One element is written for each.
    ///   - each: Writes one element.
    /// - Throws: What the closure throws.
    package mutating func array<Element>(
        _ elements: some Sequence<Element>,
        each: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        try array { json in
            for element in elements { try each(&json, element) }
        }
    }

    /// Adds a string, or `null`.
    package mutating func member(_ key: JSONKey, _ value: String?) {
        guard var value else { return null(key) }
        value.withUTF8 { member(key, utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Adds `null`.
    package mutating func null(_ key: JSONKey) {
        add(key)
        text.append("null")
    }

    /// Adds a string that is UTF-8 already.
    package mutating func member(_ key: JSONKey, utf8 value: UnsafeRawBufferPointer) {
        member(key) { text in Self.escape(value, to: &text) }
    }

    /// Adds a number that is decimal digits already.
    package mutating func member(_ key: JSONKey, number digits: UnsafeRawBufferPointer) {
        add(key)
        text.append(digits)
    }

    /// Adds a value, with all that it holds.
    package mutating func member(_ key: JSONKey, _ value: JSONValue) {
        nested(key) { $0.write(value) }
    }

    /// Adds an array of texts.
    package mutating func member(_ key: JSONKey, texts: [String]) {
        member(key, JSONValue(texts))
    }

    /// Adds a string whose bytes need no escaping.
    ///
    /// - Parameters:
    ///   - key: The member's name.
    ///   - append: Appends the string's bytes to what was written so far.
    package mutating func member(_ key: JSONKey, plain append: (inout TextBuffer) -> Void) {
        add(key)
        text.append(UInt8(ascii: "\""))
        append(&text)
        text.append(UInt8(ascii: "\""))
    }

    /// Adds a whole number.
    package mutating func member(_ key: JSONKey, _ value: Int) {
        add(key)
        var digits = String(value)
        digits.withUTF8 { text.append(UnsafeRawBufferPointer($0)) }
    }

    /// Adds `true` or `false`.
    package mutating func member(_ key: JSONKey, _ value: Bool) {
        add(key)
        text.append(value ? "true" : "false")
    }

    /// Adds what a closure writes: one value.
    package mutating func nested(_ key: JSONKey, _ value: (inout JSONWriter) throws -> Void) rethrows {
        add(key)
        needsComma = false
        try value(&self)
        needsComma = true
    }

    /// The same for a name that may be any text.
    package mutating func nested(named name: String, _ value: (inout JSONWriter) throws -> Void) rethrows {
        element { Self.append(name, to: &$0) }
        text.append(":")
        needsComma = false
        try value(&self)
        needsComma = true
    }

    /// Adds a value that is JSON in UTF-8 already.
    package mutating func member(_ key: JSONKey, json value: UnsafeRawBufferPointer) {
        add(key)
        text.append(value)
    }

    /// The same for a text.
    package mutating func member(_ key: JSONKey, json value: String) {
        var value = value
        value.withUTF8 { member(key, json: UnsafeRawBufferPointer($0)) }
    }

    /// Writes a value, with all that it holds.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: element { $0.append("null") }
        case .boolean(let boolean): element { $0.append(boolean ? "true" : "false") }
        case .number(var digits): element { text in digits.withUTF8 { text.append(UnsafeRawBufferPointer($0)) } }
        case .string(let string): element { Self.append(string, to: &$0) }
        case .array(let elements): array { json in for element in elements { json.write(element) } }
        case .object(let members):
            object { json in
                for (name, value) in members { json.nested(named: name) { $0.write(value) } }
            }
        }
    }

    private mutating func element(_ append: (inout TextBuffer) -> Void) {
        if needsComma { text.append(",") }
        append(&text)
        needsComma = true
    }

    private static func append(_ string: String, to text: inout TextBuffer) {
        var string = string
        text.append(UInt8(ascii: "\""))
        string.withUTF8 { escape(UnsafeRawBufferPointer($0), to: &text) }
        text.append(UInt8(ascii: "\""))
    }

    /// Begins an array that is written in several pieces.
    package mutating func beginArray() { begin("[") }

    /// Ends such an array.
    package mutating func endArray() { end("]") }

    private mutating func begin(_ bracket: StaticString) {
        if needsComma { text.append(",") }
        text.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: StaticString) {
        text.append(bracket)
        needsComma = true
    }

    private mutating func add(_ key: JSONKey) {
        text.append(needsComma ? ",\"" : "\"")
        text.append(key.name)
        text.append("\":")
        needsComma = true
    }

    /// Escapes what RFC 8259 section 7 says must be, and writes the rest as UTF-8.
    private static func escape(_ value: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        if isPlain(value) { return text.append(value) }
        for byte in value {
            if needsEscape(byte) {
                escape(byte, to: &text)
            } else {
                text.append(byte)
            }
        }
    }

    /// Whether nothing needs to be escaped, as in nearly every text.
    ///
    /// It looks at eight bytes at a time.
    private static func isPlain(_ value: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits = ones << 7
        var start = 0
        while value.count - start >= 8 {
            let bytes = value.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            let (quotes, backslashes) = (bytes ^ ones &* 0x22, bytes ^ ones &* 0x5C)
            // Subtracting n from each byte sets the high bit of every byte below n. It can set a neighbour's bit too,
            // but only where such a byte is. Bits that were set before do not count.
            let found =
                (bytes &- ones &* 0x20) & ~bytes | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
            if found & highBits != 0 { return false }
            start += 8
        }
        while start < value.count {
            if needsEscape(value[start]) { return false }
            start += 1
        }
        return true
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x22 || byte == 0x5C
    }

    private static func escape(_ byte: UInt8, to text: inout TextBuffer) {
        switch byte {
        case 0x22: text.append("\\\"")
        case 0x5C: text.append("\\\\")
        case 0x0A: text.append("\\n")
        case 0x0D: text.append("\\r")
        case 0x09: text.append("\\t")
        default:
            text.append(byte < 0x10 ? "\\u000" : "\\u001")
            text.append(("0123456789abcdef" as StaticString).utf8Start[Int(byte & 0x0F)])
        }
    }
}
