package import JSON

/// Why the data of a record is refused.
package struct RecordValidationError: Error, Equatable {
    /// The field; nil for the record itself.
    package let field: String?
    package let reason: Reason

    /// - Parameters:
    ///   - field: The field; nil for the record itself.
    ///   - reason: The rule that it breaks.
    package init(_ field: String?, _ reason: Reason) {
        self.field = field
        self.reason = reason
    }

    /// The rules that data can break.
    package enum Reason: Error, Equatable {
        /// It is not a JSON object.
        case notAnObject
        /// It has more than ``RecordLimits/maxBytes``.
        case tooManyBytes
        /// It has more than ``RecordLimits/maxDepth`` levels.
        case tooDeep
        /// A value can't be stored.
        case unstorable(JSONValue.StorageError)
        /// The collection has no such field.
        case unknown
        /// It is required.
        case missing
        /// It is of another type than this.
        case notA(FieldType)
        /// Its values have no order, or are no texts.
        case notOrdered
        /// An array has more than ``FieldType/maxElementCount`` ids.
        case tooManyElements
        /// An array has an id twice.
        case repeatedElement
        /// The record has more than ``RecordLimits/maxLinkCount`` ids of members, records and photos.
        case tooManyLinks
        /// A text has more than this many characters.
        case tooLong(maxCharacters: Int)
        /// The parent that it names has no room for the record's id.
        case parentFull
        /// Its target does not exist, or its writer may not use it.
        case notFound
    }
}

/// The data of a record is refused.
package struct InvalidRecord: Error, Equatable {
    /// At least one.
    package let errors: [RecordValidationError]

    package init(errors: [RecordValidationError]) {
        self.errors = errors
    }
}
