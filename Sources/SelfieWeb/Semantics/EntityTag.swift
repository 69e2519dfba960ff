import Encodings

/// A strong entity tag: equal for two answers only if their bodies are (RFC 9110, section 8.8.3).
struct EntityTag: Equatable {
    /// As headers have it, in quotes.
    let quoted: String

    /// - Parameter opaque: A text that changes with the body: visible ASCII without quotes.
    init(_ opaque: String) {
        quoted = "\"\(opaque)\""
    }

    /// Whether the list of `If-None-Match` has this tag or a star.
    ///
    /// A weak tag counts, too (section 13.1.2).
    func isNamedWeakly(in list: String) -> Bool { isNamed(in: list, takesWeak: true) }

    /// Whether the list of `If-Match` has this tag or a star (section 13.1.1).
    func isNamedStrongly(in list: String) -> Bool { isNamed(in: list, takesWeak: false) }

    private func isNamed(in list: String, takesWeak: Bool) -> Bool {
        // Most clients send one tag.
        if list.hasSameBytes(as: quoted) { return true }
        var rest = list.utf8[...]
        while true {
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ",") }
            if rest.first == UInt8(ascii: "*") { return true }
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            // A tag may hold a comma. Anything that is not a tag ends the list.
            guard rest.first == UInt8(ascii: "\"") else { return false }
            guard let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else { return false }
            if takesWeak || !isWeak, rest[...end].elementsEqual(quoted.utf8) { return true }
            rest = rest[rest.index(after: end)...]
        }
    }
}
