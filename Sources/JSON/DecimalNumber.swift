import Encodings

/// A number of JSON: its digits, and where the point is.
///
/// Two texts of the same number, such as `1e1` and `10.0`, have the same parts.
package struct DecimalNumber {
    /// Whether a 64-bit number with a floating point holds it: it is not too large, and not too close to zero.
    package let isInRange: Bool
    package let isNegative: Bool
    /// Its digits without zeros at either end; empty for zero.
    package let digits: String
    /// The power of ten behind the digits; 0 for zero.
    package let exponent: Int

    /// Such as `-25e-1`.
    package var canonicalText: String {
        digits.isEmpty ? "0" : "\(isNegative ? "-" : "")\(digits)e\(exponent)"
    }

    private init(isInRange: Bool = true, isNegative: Bool = false, digits: String = "", exponent: Int = 0) {
        (self.isInRange, self.isNegative, self.digits, self.exponent) = (isInRange, isNegative, digits, exponent)
    }

    /// - Parameter text: A number by the grammar of JSON.
    package init(_ text: String) {
        if let number = Self(shortInteger: text) {
            self = number
            return
        }
        let isNegative = text.hasPrefix("-")
        let halves = (isNegative ? text.dropFirst() : text[...]).split(maxSplits: 1) { $0 == "e" || $0 == "E" }
        let mantissa = (halves.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
        let leading = mantissa.joined().drop { $0 == "0" }
        let trailingCount = leading.reversed().prefix { $0 == "0" }.count
        let digits = leading.dropLast(trailingCount)
        let written = halves.count > 1 ? Int(halves[1]) : 0
        guard !digits.isEmpty else {
            self.init()
            return
        }
        let value = Double(text) ?? .infinity
        let fractionCount = mantissa.count > 1 ? mantissa[1].count : 0
        self.init(
            isInRange: written != nil && value.isFinite && value != 0,
            isNegative: isNegative,
            digits: String(digits),
            exponent: (written ?? 0).addingReportingOverflow(trailingCount - fractionCount).partialValue
        )
    }

    /// Reads what most numbers are; nil for others.
    ///
    /// There may be thirty thousand in a record.
    private init?(shortInteger text: String) {
        guard text.utf8.count <= 15 else { return nil }
        var (magnitude, isNegative, exponent) = (0, false, 0)
        for byte in text.utf8 {
            if byte == UInt8(ascii: "-") {
                isNegative = true
            } else if byte.isASCIIDigit {
                magnitude = magnitude * 10 + Int(byte - UInt8(ascii: "0"))
            } else {
                return nil
            }
        }
        guard magnitude > 0 else {
            self.init()
            return
        }
        while magnitude.isMultiple(of: 10) { (magnitude, exponent) = (magnitude / 10, exponent + 1) }
        self.init(isNegative: isNegative, digits: String(magnitude), exponent: exponent)
    }
}
