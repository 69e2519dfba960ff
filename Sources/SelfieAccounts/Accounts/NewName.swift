import Encodings
import JSON

/// The name of an account to be made, as a client sent it.
package enum NewName: Sendable {
    /// Its first and last word become the names; one word is the first name, and there is no last name.
    case full(String)
    case parts(first: String, last: String)

    /// The names; nil for a name without a word.
    var firstAndLast: (String, String)? {
        switch self {
        case .full(let name):
            let words = name.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, let last = words.last else { return nil }
            return (String(first), words.count > 1 ? String(last) : "")
        case .parts(let first, let last): return (first.onOneLine(), last.onOneLine())
        }
    }

    /// The rules that it breaks.
    var validationErrors: [ValidationError] {
        switch self {
        case .full(let name): Self.validationErrors(of: name, .fullName)
        case .parts(let first, let last):
            Self.validationErrors(of: first, .firstName) + Self.validationErrors(of: last, .lastName)
        }
    }

    private static func validationErrors(of name: String, _ field: ValidationError.Field) -> [ValidationError] {
        let name = name.onOneLine()
        let blank = name.isEmpty ? [ValidationError(field, .blank)] : []
        return blank + ValidationError.all(of: name, field)
    }
}
