import Encodings
import OrderedCollections

/// Reads JSON by the grammar of RFC 8259, from the first byte to the last.
struct JSONParser {
    private let text: [UInt8]
    private var index = 0
    /// How many arrays and objects are open.
    private var depth = 0
    private var nameBytes = 0
    private var valueCount = 0
    /// The lines of members; nil unless they are asked for.
    private(set) var locations: JSONLocations?
    private let isStored: Bool
    /// The most bytes of all names together: hashing them takes time.
    private let maxNameBytes: Int
    /// The most values: 64 KiB, the most that is stored, hold no more.
    private let maxValueCount: Int

    /// - Parameters:
    ///   - text: The text in UTF-8.
    ///   - notesLocations: Whether to note the lines of members.
    ///   - isStored: Whether any name is taken, and texts become stream-safe.
    init(_ text: some Collection<UInt8>, notesLocations: Bool = false, isStored: Bool = false) {
        self.text = Array(text)
        self.isStored = isStored
        maxNameBytes = isStored || notesLocations ? .max : 64 << 10
        maxValueCount = isStored || notesLocations ? .max : 32 << 10
        locations = notesLocations ? JSONLocations() : nil
    }

    /// The line that was reached, from 1.
    var line: Int { 1 + text[..<min(index, text.count)].count { $0 == UInt8(ascii: "\n") } }

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try value()
        skipSpace()
        guard index == text.count else { throw .malformed }
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        skipSpace()
        valueCount += 1
        guard valueCount <= maxValueCount else { throw .tooManyValues }
        switch peek {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        var members: OrderedDictionary<String, JSONValue> = [:]
        try elements(end: "}") { parser throws(JSONError) in
            parser.skipSpace()
            let start = parser.index
            let name = try parser.string()
            // Before it is hashed.
            parser.nameBytes += name.utf8.count
            guard parser.isStored || name.isFitName && parser.nameBytes <= parser.maxNameBytes else { throw .unfitName }
            parser.skipSpace()
            try parser.expect(":")
            parser.locations?.enter(name, at: start, in: parser.text)
            members[name] = try parser.value()
            parser.locations?.leave()
        }
        return .object(members)
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        var values: [JSONValue] = []
        try elements(end: "]") { parser throws(JSONError) in
            parser.skipSpace()
            parser.locations?.enter(String(values.count), at: parser.index, in: parser.text)
            values.append(try parser.value())
            parser.locations?.leave()
        }
        return .array(values)
    }

    /// Reads what is between brackets.
    private mutating func elements(
        end: Unicode.Scalar,
        each: (inout JSONParser) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard depth < JSONValue.maxDepth else { throw .tooDeep }
        depth += 1
        defer { depth -= 1 }
        index += 1
        skipSpace()
        if take(end) { return }
        repeat {
            try each(&self)
            skipSpace()
        } while take(",")
        try expect(end)
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let length = word.utf8CodeUnitCount
        guard text[index...].prefix(length).elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: length))
        else { throw .malformed }
        index += length
        return value
    }

    private mutating func number() throws(JSONError) -> String {
        let start = index
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: text[start..<index], as: UTF8.self)
    }

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = peek, byte.isASCIIDigit { index += 1 }
        guard index > start else { throw .malformed }
    }

    private mutating func string() throws(JSONError) -> String {
        try expect("\"")
        var bytes: [UInt8] = []
        while true {
            let start = index
            while let byte = peek, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { index += 1 }
            bytes += text[start..<index]
            if take("\"") { break }
            // A control character, or the end of the text.
            guard take("\\") else { throw .malformed }
            try appendEscaped(to: &bytes)
        }
        guard let string = String(validating: bytes, as: UTF8.self) else { throw .malformed }
        return isStored ? string.streamSafe : string
    }

    private mutating func appendEscaped(to bytes: inout [UInt8]) throws(JSONError) {
        guard let byte = peek else { throw .malformed }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"): bytes += String(Character(try escapedScalar())).utf8
        default: throw .malformed
        }
    }

    /// Reads the digits after `\u`, and the second half of a pair (section 7).
    private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
        let first = try codeUnit()
        guard UTF16.isLeadSurrogate(first) else {
            guard let scalar = Unicode.Scalar(first) else { throw .malformed }
            return scalar
        }
        try expect("\\")
        try expect("u")
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw .malformed }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = peek?.hexadecimalDigit else { throw .malformed }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    private var peek: UInt8? { index < text.count ? text[index] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: scalar) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ scalar: Unicode.Scalar) throws(JSONError) {
        guard take(scalar) else { throw .malformed }
    }
}
