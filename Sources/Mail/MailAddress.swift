import CIDN2
import Encodings
import Glibc

/// An address of mail in the form in which servers take it (RFC 5321, section 4.1.2).
package struct MailAddress: Sendable, Hashable {
    /// ASCII, quoted where it must be.
    package let text: String
    /// The domain; names in other scripts than Latin are encoded (RFC 5890).
    package let domain: String

    /// The most bytes of the part before the at sign (RFC 5321, section 4.5.3.1.1).
    private static let maxLocalBytes = 64
    /// The most bytes of a domain that is given; what it is encoded as has 253 at most (RFC 1035, section 2.3.4).
    private static let maxGivenDomainBytes = 1_024

    /// - Parameter address: As a person has typed it. The part before the at sign may have quotes around it.
    /// - Throws: `MailAddressError`.
    package init(_ address: String) throws(MailAddressError) {
        guard address.unicodeScalars.allSatisfy({ !$0.isControl }) else { throw .malformed }
        // They are allowed in quotes. But they stand around addresses in SMTP, and nobody has such an address.
        guard !address.contains(where: { "<>".contains($0) }) else { throw .malformed }
        guard let at = address.lastIndex(of: "@") else { throw .malformed }
        let local = try Self.unquoted(address[..<at])
        guard !local.isEmpty else { throw .malformed }
        guard local.utf8.allSatisfy({ $0 < 0x80 }) else { throw .unsupported }
        guard local.utf8.count <= Self.maxLocalBytes else { throw .tooLong }
        domain = try Self.encoded(domain: String(address[address.index(after: at)...]))
        text = "\(Self.quoted(local))@\(domain)"
    }

    /// What a local part stands for, without its quotes.
    private static func unquoted(_ local: Substring) throws(MailAddressError) -> String {
        guard local.hasPrefix("\"") else { return String(local) }
        guard local.count > 1, local.hasSuffix("\"") else { throw .malformed }
        var (text, isEscaped) = ("", false)
        for character in local.dropFirst().dropLast() {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else if !isEscaped, character == "\"" {
                throw .malformed
            } else {
                text.append(character)
                isEscaped = false
            }
        }
        guard !isEscaped else { throw .malformed }
        return text
    }

    /// As it is if it is a dot-atom (RFC 5322, section 3.2.3), else with quotes.
    private static func quoted(_ local: String) -> String {
        let isDotAtom = local.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.utf8.allSatisfy { isAtomByte($0) }
        }
        if isDotAtom { return local }
        return "\"" + local.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Whether a byte may be in an atom (RFC 5322, section 3.2.3, "atext").
    static func isAtomByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }
    }

    private static func encoded(domain: String) throws(MailAddressError) -> String {
        guard !domain.isEmpty, !domain.utf8.contains(0) else { throw .malformed }
        guard domain.utf8.count <= maxGivenDomainBytes else { throw .tooLong }
        var result: UnsafeMutablePointer<CChar>?
        let code = idn2_to_ascii_8z(domain, &result, CInt(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue))
        defer { free(result) }
        try requireOneSpelling(of: domain, encoded: code == IDN2_OK.rawValue ? result : nil)
        if [IDN2_TOO_BIG_DOMAIN, IDN2_TOO_BIG_LABEL].contains(where: { $0.rawValue == code }) { throw .tooLong }
        guard code == IDN2_OK.rawValue, let result else { throw .malformed }
        let name = String(cString: result)
        let isName = name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { isAtomByte($0) && ($0 == UInt8(ascii: "-") || !Self.isSign($0)) }
        }
        guard isName else { throw .malformed }
        return name
    }

    /// Refuses a domain in other scripts than Latin that is not spelled as it is decoded again, such as with capitals.
    ///
    /// What compares addresses ignores case in its own way. `İ` is `i` for one program, and another letter in a domain.
    private static func requireOneSpelling(
        of domain: String,
        encoded: UnsafeMutablePointer<CChar>?
    ) throws(MailAddressError) {
        guard let encoded, domain.utf8.contains(where: { $0 >= 0x80 }) else { return }
        var decoded: UnsafeMutablePointer<CChar>?
        defer { free(decoded) }
        guard idn2_to_unicode_8z8z(encoded, &decoded, 0) == CInt(IDN2_OK.rawValue), let decoded else {
            throw .malformed
        }
        let isCapital = { (byte: UInt8) in (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
        guard domain.utf8.map({ isCapital($0) ? $0 + 0x20 : $0 }) == Array(String(cString: decoded).utf8) else {
            throw .malformed
        }
    }

    /// Whether a byte of an atom is neither a letter nor a digit.
    private static func isSign(_ byte: UInt8) -> Bool { "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte) }
}

extension MailAddressError {
    /// A word for a delivery that failed.
    package var word: String {
        switch self {
        case .malformed: "malformed"
        case .tooLong: "too_long"
        case .unsupported: "unsupported"
        }
    }
}

/// Why no mail can be sent to an address.
package enum MailAddressError: Error, Equatable, CustomStringConvertible {
    /// It has a line break, no at sign, nothing on one side of it, or a domain that can't be one.
    case malformed
    /// It is longer than servers must take.
    case tooLong
    /// The part before the at sign is not ASCII, which few servers take (RFC 6531).
    case unsupported

    package var description: String {
        switch self {
        case .malformed: "the address is malformed"
        case .tooLong: "the address is too long"
        case .unsupported: "the part of the address before the at sign is not ASCII"
        }
    }
}
