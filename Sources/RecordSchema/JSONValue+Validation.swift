import Encodings
package import JSON
import OrderedCollections

extension JSONValue {
    /// How many arrays and objects are in each other at most; 0 for other values.
    package var depth: Int {
        switch self {
        case .null, .boolean, .number, .string: 0
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.lazy.map(\.depth).max() ?? 0)
        }
    }

    /// Errors of values that PostgreSQL or clients can't store.
    package var validationErrors: [RecordValidationError.Reason] {
        switch self {
        case .null, .boolean: []
        case .number(let digits): DecimalNumber(digits).isInRange ? [] : [.numberOutOfRange]
        case .string(let text): text.utf8.contains(0) ? [.hasNull] : text.hasLongMarkRun ? [.tooManyMarks] : []
        case .array(let elements): elements.lazy.map(\.validationErrors).first { !$0.isEmpty } ?? []
        case .object(let members):
            members.lazy.map { name, value in name.utf8.contains(0) ? [.hasNull] : value.validationErrors }
                .first { !$0.isEmpty } ?? []
        }
    }
}
