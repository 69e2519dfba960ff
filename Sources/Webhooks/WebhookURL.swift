/// The URL of a receiver.
package struct WebhookURL: Sendable, Equatable {
    package let text: String
    /// Whether it begins with `https`.
    package let isEncrypted: Bool

    private static let maxBytes = 2_048

    /// - Parameter text: An `https` or `http` URL of at most 2,048 visible ASCII characters, without a user and a fragment. The
    ///   result is nil for other texts.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let separator = text.firstRange(of: "://"), !text.contains("#"), !text.contains("\\")
        else { return nil }
        switch text[..<separator.lowerBound].lowercased() {
        case "https": isEncrypted = true
        case "http": isEncrypted = false
        default: return nil
        }
        let authority = text[separator.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty, !authority.contains("@"), !authority.hasPrefix(":") else { return nil }
        self.text = text
    }

    /// What may stand in a log: the path and the query may hold a secret of the receiver.
    package var host: String {
        guard let separator = text.firstRange(of: "://") else { return "" }
        return String(text[separator.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }
}
