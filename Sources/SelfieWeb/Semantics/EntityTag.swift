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
        var reader = EntityTagReader(list)
        while let tag = reader.next() {
            switch tag {
            case .any: return true
            case .one(let other, let isWeak):
                if takesWeak || !isWeak, other.elementsEqual(quoted.utf8) { return true }
            }
        }
        return false
    }
}

/// Reads a list of entity tags, as `If-Match` and `If-None-Match` have it, byte by byte.
struct EntityTagReader {
    enum Tag {
        /// A star.
        case any
        case one(quoted: Substring.UTF8View, isWeak: Bool)
    }

    private var rest: Substring.UTF8View

    init(_ list: String) {
        rest = Substring(list).utf8
    }

    /// Whether all of the list was read.
    var isAtEnd: Bool { rest.isEmpty }

    /// The next tag; nil at the end, and before anything that is no tag.
    mutating func next() -> Tag? {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ",") }
        if rest.first == UInt8(ascii: "*") { return .any }
        let isWeak = rest.starts(with: "W/".utf8)
        let tag = isWeak ? rest.dropFirst(2) : rest
        // A tag may hold a comma.
        guard tag.first == UInt8(ascii: "\""), let end = tag.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else {
            return nil
        }
        rest = tag[tag.index(after: end)...]
        return .one(quoted: tag[...end], isWeak: isWeak)
    }
}
