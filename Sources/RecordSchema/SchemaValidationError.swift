/// Something in a schema file that is refused.
package struct SchemaValidationError: Error, Equatable {
    /// The line in the file, from 1.
    package let line: Int
    /// The names that lead to it, joined by dots.
    ///
    /// Such as `collections.bugs.role`; empty for the file itself.
    package let key: String
    /// What is wrong, in a sentence.
    package let message: String
}

/// Why a schema file is refused.
package struct InvalidSchema: Error {
    /// At least one, in the order of the lines.
    package let errors: [SchemaValidationError]
}
