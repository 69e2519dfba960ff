import Algorithms

/// A word of a protocol, such as a media type or a coding: ASCII, compared ignoring case.
///
/// Its bytes are compared. Comparing a `String` normalizes it first, which costs a lot for some texts.
package struct ProtocolWord: Hashable, Sendable, ExpressibleByStringLiteral {
    private let bytes: [UInt8]

    /// - Parameter text: The word in UTF-8, perhaps with spaces and tabs around it.
    package init(_ text: some BidirectionalCollection<UInt8>) {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        bytes = text.trimming(while: isBlank).map(\.asciiLowercased)
    }

    package init(stringLiteral text: StaticString) {
        bytes = text.withUTF8Buffer { $0.map(\.asciiLowercased) }
    }

    /// The words of a header's value, with commas between them; what follows a semicolon is left out.
    ///
    /// - Parameter list: The value.
    /// - Returns: The words in their order.
    package static func list(_ list: some StringProtocol) -> [ProtocolWord] {
        list.utf8.split(separator: UInt8(ascii: ",")).map { ProtocolWord($0.prefix { $0 != UInt8(ascii: ";") }) }
    }
}

extension StringProtocol {
    /// Whether two texts have the same bytes, which texts of protocols are compared by.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Collection<UInt8> {
    /// The text of these bytes with `A` to `Z` made small and every other character left alone.
    ///
    /// `String.lowercased()` also changes characters beyond ASCII, such as the Kelvin sign into `k`. Two different
    /// names would become one.
    package var asciiLowercased: String { String(decoding: map(\.asciiLowercased), as: UTF8.self) }
}

extension UInt8 {
    /// `A` to `Z` made small, and every other byte as it is.
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
