import Encodings
import SelfieAccounts

/// The label of a session whose client gave none.
enum DeviceLabel {
    /// Makes a label of the client's `User-Agent`, without control characters, cut if it is too long.
    ///
    /// It is nil when nothing is left.
    static func of(userAgent: String?) -> String? {
        let agent = (userAgent ?? "").trimmingWhitespace().unicodeScalars.filter { !$0.isControl }
        let label = String(String.UnicodeScalarView(agent.prefix(ValidationError.maxCharacters)))
        return label.isEmpty ? nil : label
    }
}
