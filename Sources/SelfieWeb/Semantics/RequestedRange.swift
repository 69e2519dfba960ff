import Algorithms
import Encodings

/// The bytes that the header `Range` asks for (RFC 9110, section 14.1.2).
enum RequestedRange: Equatable {
    /// All bytes. There is no header, or it is ignored: it is malformed, has several ranges or another unit.
    case whole
    /// These bytes, at least one.
    case part(Range<Int>)
    /// Bytes that do not exist.
    case unsatisfiable

    init(_ header: String?, length: Int) {
        guard let header, let range = Self.parse(header) else {
            self = .whole
            return
        }
        let first = range.first ?? length - min(range.last ?? 0, length)
        let last = range.first == nil ? length - 1 : min(range.last ?? .max, length - 1)
        self = first <= last ? .part(first..<last + 1) : .unsatisfiable
    }

    private static let unit: ProtocolWord = "bytes="
    private static let unitLength = 6

    /// The two numbers of a single range.
    ///
    /// One of them may be missing.
    private static func parse(_ header: String) -> (first: Int?, last: Int?)? {
        guard header.utf8.count > unitLength, header.utf8.allSatisfy({ $0 < 0x80 }),
            ProtocolWord(header.utf8.prefix(unitLength)) == unit
        else { return nil }
        let range = header.dropFirst(unitLength).trimming { $0 == " " || $0 == "\t" }
        let numbers = range.split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.contains(where: { !$0.isEmpty }) else { return nil }
        guard let first = number(numbers[0]), let last = number(numbers[1]) else { return nil }
        if let first, let last, last < first { return nil }
        return (first, last)
    }

    /// A number, or `.some(nil)` for no digits, or nil for anything else.
    ///
    /// A number that is too large becomes the largest.
    private static func number(_ digits: Substring) -> Int?? {
        guard digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return .some(digits.isEmpty ? nil : Int(digits) ?? .max)
    }
}
