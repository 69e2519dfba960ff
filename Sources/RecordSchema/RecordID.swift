import Cryptography
import Encodings

/// The ids of records.
package enum RecordID {
    /// The same as ``canBeNew(_:)``, as a regular expression of JSON Schema.
    package static let pattern = "^(?!\\.{1,2}$)[A-Za-z0-9._:~@-]{1,\(RecordLimits.maxIDLength)}$"

    /// Whether a new record may have a text as its id.
    ///
    /// `.` and `..` mean a folder in a path (RFC 3986, section 5.2.4), so clients can't ask for such a record. Older ones may be
    /// there.
    package static func canBeNew(_ text: String) -> Bool { isValid(text) && text != "." && text != ".." }

    /// Whether a text can be an id: 1 to 255 of `A-Z a-z 0-9 . _ : ~ @ -`.
    package static func isValid(_ text: String) -> Bool {
        (1...RecordLimits.maxIDLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte.isASCIILetterOrDigit || "._:~@-".utf8.contains(byte)
            }
    }

    /// The greatest id of a client's choice that is a whole number: JavaScript's numbers are exact up to here.
    package static let maxInteger = 1 << 53 - 1

    /// Whether a text is a whole number from 1 to ``maxInteger``, in decimal digits without zeros before it.
    package static func isInteger(_ text: String) -> Bool {
        guard let number = Int(text), (1...maxInteger).contains(number) else { return false }
        return String(number) == text
    }

    /// A new id, which can't be guessed.
    package static func make() -> String { RandomIdentifier.makeSecret(length: 22) }
}
