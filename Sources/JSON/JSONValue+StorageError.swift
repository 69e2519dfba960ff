import Encodings
import OrderedCollections

extension JSONValue {
    /// Why PostgreSQL or clients can't store a value.
    package enum StorageError: Sendable {
        /// A text has U+0000, which PostgreSQL's text can't hold.
        case hasNull
        /// A text has more than 30 combining marks in a row.
        case tooManyMarks
        /// A number is beyond what 64 bits of floating point hold.
        case numberOutOfRange
    }

    /// How many arrays and objects are in each other at most; 0 for other values.
    package var depth: Int {
        switch self {
        case .null, .boolean, .number, .string: 0
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.lazy.map(\.depth).max() ?? 0)
        }
    }

    /// The first error of this value or of one in it; nil when it can be stored.
    package var storageError: StorageError? {
        switch self {
        case .null, .boolean: nil
        case .number(let digits): DecimalNumber(digits).isInRange ? nil : .numberOutOfRange
        case .string(let text): text.utf8.contains(0) ? .hasNull : text.hasLongMarkRun ? .tooManyMarks : nil
        case .array(let elements): elements.lazy.compactMap(\.storageError).first
        case .object(let members):
            members.lazy.compactMap { name, value in name.utf8.contains(0) ? .hasNull : value.storageError }.first
        }
    }
}
