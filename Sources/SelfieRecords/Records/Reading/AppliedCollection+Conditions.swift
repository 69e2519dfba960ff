import JSON
import RecordSchema

extension AppliedCollection {
    /// Requires that the collection has an index.
    ///
    /// - Throws: `RecordRefusal` if it has none of the name.
    func requireIndex(_ name: String) throws(RecordRefusal) {
        guard definition.indexes.contains(name) else { throw RecordRefusal(.noIndex(field: name)) }
    }

    /// What the collection's indexes are searched for.
    ///
    /// - Throws: `RecordRefusal` for a field without an index, or with a value that it can't have or that has no order.
    func searches(_ conditions: [FieldCondition]) throws(RecordRefusal) -> [(field: String, search: IndexSearch)] {
        var searches: [(String, IndexSearch)] = []
        for condition in conditions {
            try requireIndex(condition.field)
            do {
                let type = definition.type(ofIndex: condition.field)
                searches.append((condition.field, try IndexSearch(condition.test, of: type)))
            } catch {
                throw RecordRefusal(.invalidCondition(RecordValidationError(condition.field, error)))
            }
        }
        return searches
    }

    /// The values of fields as indexes have them.
    ///
    /// - Throws: `RecordRefusal` for a field without an index, or with a value that it can't have.
    func indexedFields(
        _ values: [(field: String, value: JSONValue)]
    ) throws(RecordRefusal) -> [RecordData.IndexedField] {
        var fields: [RecordData.IndexedField] = []
        for (field, search) in try searches(values.map { FieldCondition($0.field, equals: $0.value) }) {
            guard definition.time(ofIndex: field) == nil, case .values(let values) = search else {
                throw RecordRefusal(.noIndex(field: field))
            }
            fields += values.map { RecordData.IndexedField(field: field, value: $0) }
        }
        return fields
    }
}
