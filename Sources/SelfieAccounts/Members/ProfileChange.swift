import Encodings
package import JSON
package import OrderedCollections

/// A user's change of the profile.
///
/// Properties that are nil stay as they are.
package struct ProfileChange: Sendable {
    private(set) var firstName: String?
    private(set) var lastName: String?
    private(set) var title: String?
    private(set) var picture: Picture?
    private(set) var showsEmail: Bool?
    /// A merge patch of the free fields (RFC 7396).
    private var fields: JSONValue?
    /// The rules that are broken, whatever the profile is.
    private var validationErrors: [ValidationError] = []

    /// The new picture.
    enum Picture: Sendable, Equatable {
        case none
        /// A photo, by its id for clients.
        case photo(String)
    }

    /// Reads a change.
    ///
    /// Validation errors are collected until ``mergedFields(with:hasPicture:)``, which throws them together.
    ///
    /// - Parameter members: The members of a JSON object.
    package init(_ members: OrderedDictionary<String, JSONValue>) {
        for (name, value) in members {
            switch name {
            case "first_name": firstName = line(value, .firstName, mayBeBlank: false)
            case "last_name": lastName = line(value, .lastName, mayBeBlank: true)
            case "title": title = line(value, .title, mayBeBlank: true)
            case "picture": readPicture(value)
            case "shows_email":
                if case .boolean(let flag) = value { showsEmail = flag } else { add(.showsEmail, .invalid) }
            case "fields":
                if case .object = value { fields = value } else { add(.fields, .invalid) }
            default: add(.other(name), .unknown)
            }
        }
    }

    /// Whether it changes nothing.
    var isEmpty: Bool {
        firstName == nil && lastName == nil && title == nil && picture == nil && showsEmail == nil && fields == nil
            && validationErrors.isEmpty
    }

    /// The free fields after the change, and all rules that are broken.
    ///
    /// - Parameters:
    ///   - present: The free fields before it.
    ///   - hasPicture: Whether the photo of the new picture exists.
    /// - Returns: The fields; nil when they stay as they are.
    /// - Throws: `InvalidInput`.
    func mergedFields(with present: JSONValue, hasPicture: Bool) throws(InvalidInput) -> JSONValue? {
        let merged = fields.map { present.merged(with: $0) }
        var validationErrors = validationErrors
        if !hasPicture { validationErrors.append(ValidationError(.picture, .invalid)) }
        if let merged { validationErrors += ProfileFields.validationErrors(of: merged) }
        guard validationErrors.isEmpty else { throw InvalidInput(validationErrors: validationErrors) }
        return merged
    }

    private mutating func line(_ value: JSONValue, _ field: ValidationError.Field, mayBeBlank: Bool) -> String? {
        guard case .string(let text) = value else {
            add(field, .invalid)
            return nil
        }
        let line = text.onOneLine()
        if line.isEmpty, !mayBeBlank { add(field, .blank) }
        validationErrors += ValidationError.all(of: line, field)
        return line
    }

    private mutating func readPicture(_ value: JSONValue) {
        switch value {
        case .null: picture = Picture.none
        // No photo has an id with U+0000, which PostgreSQL's text can't hold.
        case .string(let randomID) where !randomID.utf8.contains(0) && !randomID.hasLongMarkRun:
            picture = .photo(randomID)
        default: add(.picture, .invalid)
        }
    }

    private mutating func add(_ field: ValidationError.Field, _ reason: ValidationError.Reason) {
        validationErrors.append(ValidationError(field, reason))
    }
}
