import Encodings
import FoundationEssentials

/// Text in the forms that a mail needs.
enum MailText {
    /// The text of one line: line breaks and other control characters are spaces.
    static func line(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { line.append(isBreak(scalar) ? " " : scalar) }
        return String(line)
    }

    private static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isControl || [.lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    // MARK: - Headers

    /// The most bytes of one encoded word, so that a line has at most 76 characters behind `Subject: ` (RFC 2047, section 2).
    private static let maxWordBytes = 39
    /// The most characters of a header's text that is sent as it is.
    private static let maxPlainCharacters = 60

    /// A header's text: as it is, or as encoded words (RFC 2047), one a line.
    static func header(_ text: String) -> String {
        let line = line(text)
        let isPlain =
            line.utf8.allSatisfy { (0x20...0x7E).contains($0) } && line.utf8.count <= maxPlainCharacters
            && !line.contains("=?") && !line.hasPrefix(" ") && !line.hasSuffix(" ")
        return isPlain ? line : encodedWords(line)
    }

    /// The most bytes of an encoded word alone, so that it has at most 75 characters.
    private static let maxSingleWordBytes = 45

    /// A name before an address: atoms, a quoted text, or one encoded word (RFC 5322, section 3.2.5).
    ///
    /// Some programs show a space between encoded words. So a name that needs more than one is cut off.
    static func phrase(_ text: String) -> String {
        let header = header(text)
        if header.hasPrefix("=?") {
            var name = ""
            for scalar in line(text).unicodeScalars {
                let longer = name + String(scalar)
                if longer.utf8.count > maxSingleWordBytes { break }
                name = longer
            }
            return encodedWord(Array(name.utf8))
        }
        if header.utf8.allSatisfy({ MailAddress.isAtomByte($0) || $0 == UInt8(ascii: " ") }), !header.isEmpty {
            return header
        }
        return "\"" + header.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func encodedWord(_ bytes: [UInt8]) -> String { "=?UTF-8?B?\(Data(bytes).base64EncodedString())?=" }

    private static func encodedWords(_ text: String) -> String {
        var (words, word): ([String], [UInt8]) = ([], [])
        func end() {
            words.append(encodedWord(word))
            word = []
        }
        // No word may end within a character of UTF-8.
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if word.count + bytes.count > maxWordBytes { end() }
            word += bytes
        }
        end()
        return words.joined(separator: "\r\n ")
    }

    // MARK: - Bodies

    /// The most characters of a line (RFC 2045, section 6.7), without the sign that continues it.
    private static let maxLineCharacters = 75

    /// Text as quoted-printable, with CRLF at each line's end.
    ///
    /// - Parameter text: Any line breaks count. Control characters other than tabs are left out.
    /// - Returns: Lines of at most 76 characters.
    static func quotedPrintable(_ text: String) -> String {
        var encoded = ""
        var lines = text.replacing("\r\n", with: "\n").split(
            omittingEmptySubsequences: false,
            whereSeparator: \.isNewline
        )
        if lines.last?.isEmpty == true { lines.removeLast() }
        for line in lines { append(line, to: &encoded) }
        return encoded
    }

    private static func append(_ line: Substring, to encoded: inout String) {
        let scalars = line.unicodeScalars.filter { $0 == "\t" || !$0.isControl }
        let bytes = Array(String(String.UnicodeScalarView(scalars)).utf8)
        var column = 0
        for (index, byte) in bytes.enumerated() {
            let isLast = index == bytes.count - 1
            let isPlain =
                (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "=")
                // Some servers cut white space at a line's end off.
                || !isLast && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t"))
            let piece = isPlain ? String(Unicode.Scalar(byte)) : "=" + [byte].hexadecimal.uppercased()
            if column + piece.count > maxLineCharacters {
                encoded += "=\r\n"
                column = 0
            }
            encoded += piece
            column += piece.count
        }
        encoded += "\r\n"
    }
}
