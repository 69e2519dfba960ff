import Algorithms

extension StringProtocol {
    /// The text without the white space around it.
    package func trimmingWhitespace() -> String {
        String(trimming(while: \.isWhitespace))
    }

    /// The text on one line, without white space around it: all other white space is a space.
    package func onOneLine() -> String {
        let scalars = unicodeScalars.trimming { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(scalars.map { $0.properties.isWhitespace ? " " : $0 }))
    }

    /// The text without these characters around it.
    package func trimming(_ characters: String) -> String {
        String(String.UnicodeScalarView(unicodeScalars.trimming { characters.unicodeScalars.contains($0) }))
    }

    /// A URL's host without the brackets around an IPv6 address.
    package var withoutBrackets: String { trimming("[]") }
}
