package import OrderedCollections

/// A value of JSON (RFC 8259).
package enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// The digits as they were sent, since no type of Swift holds each number.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// The members in their order.
    ///
    /// Of those with the same name, the last counts.
    case object(OrderedDictionary<String, JSONValue>)

    /// How deep arrays and objects may be in each other.
    package static let maxDepth = 128

    /// Reads a text that is one value, with white space around it.
    ///
    /// - Parameter text: The text in UTF-8.
    /// - Returns: The value.
    /// - Throws: ``JSONError``.
    package static func parse(_ text: some Collection<UInt8>) throws(JSONError) -> JSONValue {
        var parser = JSONParser(text)
        return try parser.document()
    }

    /// Reads what was stored before, whose names may be longer than ``parse(_:)`` takes.
    ///
    /// Its texts become stream-safe: U+034F comes after every 30 combining marks in a row.
    ///
    /// - Parameter text: The text in UTF-8.
    /// - Returns: The value.
    /// - Throws: ``JSONError``.
    package static func parse(stored text: some Collection<UInt8>) throws(JSONError) -> JSONValue {
        var parser = JSONParser(text, isStored: true)
        return try parser.document()
    }
}

/// A text is not JSON, or is beyond a limit.
///
/// The error contains nothing of the text.
package enum JSONError: Error {
    case malformed
    case tooDeep
    /// A name has more than 255 bytes, or more than 30 combining marks in a row; or all names together have more than 64 KiB.
    case unfitName
    /// There are more than 32,768 values.
    case tooManyValues
}
