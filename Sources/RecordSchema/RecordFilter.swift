import Cryptography
import Encodings

/// What some indexed fields of a record must have.
package struct RecordFilter: Sendable {
    private let values: [RecordData.IndexedField]

    /// - Parameter values: Fields with their values, each field once, in any order.
    package init(_ values: [RecordData.IndexedField]) {
        self.values = values.sorted { $0.field < $1.field }
    }

    /// The same for filters that look for the same: a SHA-256 digest in hexadecimal.
    package var digest: String {
        // A text of an index has no NUL, nor has the name of a field.
        let text = values.map { "\($0.field)\0\($0.value.text)\0" }.joined()
        return SHA256.hash(Array(text.utf8)).withUnsafeBytes { $0.hexadecimal }
    }

    /// The digests of all filters that fit a record: at most 16, since a collection has four indexes.
    ///
    /// - Parameter data: The record's data.
    /// - Returns: The digests, with that of the filter without fields.
    package static func digests(fitting data: RecordData) -> Set<String> {
        let values = data.indexedFields
        return Set(
            (0..<(1 << values.count)).map { chosen in
                RecordFilter(values.indices.filter { chosen & (1 << $0) != 0 }.map { values[$0] }).digest
            }
        )
    }
}
