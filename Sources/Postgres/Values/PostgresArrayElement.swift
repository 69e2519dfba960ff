/// A type whose arrays are PostgreSQL values.
///
/// An array can conform to a protocol in one way only, so its elements say what it is. An array of bytes is `bytea`, of
/// strings `text[]`, of integers `int8[]`.
package protocol PostgresArrayElement {
    static func encode(_ array: [Self]) -> PostgresValue

    static func canDecodeArray(_ type: PostgresType) -> Bool

    static func decodeArray(_ bytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell) -> [Self]
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    package var postgresValue: PostgresValue { Element.encode(self) }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
    package static func canDecode(_ type: PostgresType) -> Bool { Element.canDecodeArray(type) }

    package init(postgresBytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell) {
        self = try Element.decodeArray(postgresBytes, type: type)
    }
}

extension UInt8: PostgresArrayElement {
    package static func encode(_ array: [UInt8]) -> PostgresValue { PostgresValue(type: .bytea, bytes: array) }

    package static func canDecodeArray(_ type: PostgresType) -> Bool { type == .bytea }

    package static func decodeArray(_ bytes: ArraySlice<UInt8>, type: PostgresType) -> [UInt8] { Array(bytes) }
}

/// A type for which PostgreSQL has an array type.
///
/// The elements of an array of optionals may be NULL.
package protocol PostgresArrayItem: PostgresArrayElement, PostgresEncodable, PostgresDecodable {
    /// The array type to encode as; its elements are of the type that the item itself encodes as.
    static var arrayType: PostgresType { get }

    /// The item in PostgreSQL's binary format.
    var binary: [UInt8] { get }
}

extension String: PostgresArrayItem {
    package static var arrayType: PostgresType { .textArray }
    package var binary: [UInt8] { Array(utf8) }
}

extension Int: PostgresArrayItem {
    package static var arrayType: PostgresType { .int8Array }
    package var binary: [UInt8] { Int64(self).bigEndianBytes }
}

extension PostgresArrayItem {
    package static func encode(_ array: [Self]) -> PostgresValue {
        PostgresArrayFormat.encode(array.lazy.map { Optional($0.binary) }, as: arrayType)
    }

    package static func canDecodeArray(_ type: PostgresType) -> Bool {
        type.element.map(canDecode) ?? false
    }

    package static func decodeArray(
        _ bytes: ArraySlice<UInt8>,
        type: PostgresType
    ) throws(UnreadableCell) -> [Self] {
        var array: [Self] = []
        try PostgresArrayFormat.decode(bytes, of: type) { (cell, type) throws(UnreadableCell) in
            guard let cell else { throw .nullElement }
            array.append(try Self(postgresBytes: cell, type: type))
        }
        return array
    }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayItem {
    package static func encode(_ array: [Wrapped?]) -> PostgresValue {
        PostgresArrayFormat.encode(array.lazy.map { $0?.binary }, as: Wrapped.arrayType)
    }

    package static func canDecodeArray(_ type: PostgresType) -> Bool { Wrapped.canDecodeArray(type) }

    package static func decodeArray(
        _ bytes: ArraySlice<UInt8>,
        type: PostgresType
    ) throws(UnreadableCell) -> [Wrapped?] {
        var array: [Wrapped?] = []
        try PostgresArrayFormat.decode(bytes, of: type) { (cell, type) throws(UnreadableCell) in
            if let cell { array.append(try Wrapped(postgresBytes: cell, type: type)) } else { array.append(nil) }
        }
        return array
    }
}
