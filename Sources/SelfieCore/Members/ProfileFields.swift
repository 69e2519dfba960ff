import Encodings
import RecordSchema

/// The free fields of a profile: a JSON object.
package enum ProfileFields {
    /// The most bytes of all fields together, as JSON without white space.
    package static let maxBytes = 8 * 1024
    /// How deep arrays and objects may be in each other, the object of all fields included.
    package static let maxDepth = 16

    /// The rules that fields break.
    ///
    /// - Parameter fields: All fields.
    /// - Returns: The complaints, at most one of each kind.
    static func complaints(about fields: JSONValue) -> [Complaint] {
        guard case .object = fields else { return [Complaint(.fields, .invalid)] }
        var problems: [Complaint.Problem] = []
        if fields.text.utf8.count > maxBytes { problems.append(.tooManyBytes(max: maxBytes)) }
        if fields.depth > maxDepth { problems.append(.tooDeep(maxDepth: maxDepth)) }
        problems += fields.validationErrors.map { problem in
            switch problem {
            case .hasNull: .hasNull
            case .tooManyMarks: .invalid
            default: .numberOutOfRange
            }
        }
        return problems.map { Complaint(.fields, $0) }
    }
}
