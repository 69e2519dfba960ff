import Encodings
import JSON

/// A client's input breaks rules.
package struct InvalidInput: Error, Equatable {
    /// At least one.
    package let validationErrors: [ValidationError]

    package init(validationErrors: [ValidationError]) {
        self.validationErrors = validationErrors
    }
}

/// A rule that is broken.
package struct ValidationError: Sendable, Equatable {
    /// The field that breaks it.
    package let field: Field
    /// How the field breaks it.
    package let reason: Reason

    /// The fields that have rules.
    package enum Field: Sendable, Equatable {
        case fullName, email, password
        case firstName, lastName, fields, picture, showsEmail
        /// A field without rules, by the client's own name.
        case other(String)
        case title, fileName, image
    }

    /// The ways to break a rule.
    package enum Reason: Sendable, Equatable {
        case blank
        case invalid
        case taken
        case tooShort(minCharacters: Int)
        case tooLong(maxCharacters: Int)
        /// The limit is of bytes, not of characters.
        case tooManyBytes(max: Int)
        /// Arrays and objects are nested deeper than this.
        case tooDeep(maxDepth: Int)
        /// A text has U+0000, which PostgreSQL's text can't hold.
        case hasNull
        /// A number is beyond what 64 bits of floating point hold.
        case numberOutOfRange
        /// There is no such field.
        case unknown
    }

    package init(_ field: Field, _ reason: Reason) {
        self.field = field
        self.reason = reason
    }

    /// The most characters of a text.
    package static let maxCharacters = 255

    /// The rules for any text: it is not too long, has no control characters and no more than 30 combining marks in a row.
    ///
    /// PostgreSQL's text can't hold NUL. JSON makes six bytes of a control character, and a terminal obeys it.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - field: Its field.
    ///   - mayHaveLines: Whether it may have line breaks and tabs.
    /// - Returns: The rules that it breaks.
    package static func all(of text: String, _ field: Field, mayHaveLines: Bool = false) -> [ValidationError] {
        var errors: [ValidationError] = []
        let isRefused: (Unicode.Scalar) -> Bool = { scalar in
            scalar.isControl && !(mayHaveLines && ["\n", "\r", "\t"].contains(scalar))
        }
        if text.unicodeScalars.contains(where: isRefused) || text.hasLongMarkRun {
            errors.append(ValidationError(field, .invalid))
        }
        if text.unicodeScalars.count > maxCharacters {
            errors.append(ValidationError(field, .tooLong(maxCharacters: maxCharacters)))
        }
        return errors
    }
}
