import JSON

/// The free fields of a profile: a JSON object.
package enum ProfileFields {
    /// The most bytes of all fields together, as JSON without white space.
    package static let maxBytes = 8 * 1024
    /// How deep arrays and objects may be in each other, the object of all fields included.
    package static let maxDepth = 16

    /// The rules that fields break.
    ///
    /// - Parameter fields: All fields.
    /// - Returns: At most one error of each kind.
    static func validationErrors(of fields: JSONValue) -> [ValidationError] {
        guard case .object = fields else { return [ValidationError(.fields, .invalid)] }
        var reasons: [ValidationError.Reason] = []
        if fields.text.utf8.count > maxBytes { reasons.append(.tooManyBytes(max: maxBytes)) }
        if fields.depth > maxDepth { reasons.append(.tooDeep(maxDepth: maxDepth)) }
        switch fields.storageError {
        case .hasNull: reasons.append(.hasNull)
        case .tooManyMarks: reasons.append(.invalid)
        case .numberOutOfRange: reasons.append(.numberOutOfRange)
        case nil: break
        }
        return reasons.map { ValidationError(.fields, $0) }
    }
}
