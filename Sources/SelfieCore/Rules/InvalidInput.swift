/// What a client sent breaks rules.
package struct InvalidInput: Error, Equatable {
    /// At least one.
    package let complaints: [Complaint]
}

/// A rule that something breaks.
package struct Complaint: Sendable, Equatable {
    /// What is wrong.
    package let field: Field
    /// How it is wrong.
    package let problem: Problem

    /// What can be wrong.
    package enum Field: Sendable {
        case fullName, email, password, device
        case title, fileName, image
    }

    /// How it can be wrong.
    package enum Problem: Sendable, Equatable {
        case blank
        case invalid
        case taken
        case tooShort(minCharacters: Int)
        case tooLong(maxCharacters: Int)
        /// The limit is of bytes, not of characters.
        case tooManyBytes(max: Int)
    }

    init(_ field: Field, _ problem: Problem) {
        self.field = field
        self.problem = problem
    }

    /// The most characters of a text.
    package static let maxCharacters = 255

    /// What any text must be: free of NUL, which PostgreSQL's text can't hold, and not too long.
    static func about(_ text: String, _ field: Field) -> [Complaint] {
        var complaints: [Complaint] = []
        if text.unicodeScalars.contains("\0") { complaints.append(Complaint(field, .invalid)) }
        if text.unicodeScalars.count > maxCharacters {
            complaints.append(Complaint(field, .tooLong(maxCharacters: maxCharacters)))
        }
        return complaints
    }
}
