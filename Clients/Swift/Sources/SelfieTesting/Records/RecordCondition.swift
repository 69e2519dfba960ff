import SelfieClient

/// A condition of `where` on a field.
struct RecordCondition: Sendable {
    private enum Test: Sendable {
        case oneOf([IndexOrder])
        case prefix(String)
        /// Bounds by the operator's sign.
        case range([String: IndexOrder])
    }

    private let field: String
    private let test: Test
    private static let signs: Set<String> = [">", ">=", "<", "<="]

    /// Reads the conditions of a list.
    ///
    /// - Parameters:
    ///   - text: The parameter `where`; nil without conditions.
    ///   - collection: The collection, whose indexes count.
    /// - Returns: What all records must fit.
    /// - Throws: `ServiceRefusal`.
    static func all(_ text: String?, in collection: RecordSchema.Collection) throws(ServiceRefusal)
        -> [RecordCondition]
    {
        guard let text else { return [] }
        guard let members = (try? JSONCoding.decode(JSONValue.self, from: .init(text.utf8)))?.members else {
            throw .invalid("where", valid: "a JSON object with at most 4 fields, and what each must have")
        }
        var conditions: [RecordCondition] = []
        for (field, value) in members {
            guard collection.indexes.contains(field) else { throw .indexMissing(field) }
            conditions.append(RecordCondition(field: field, test: try Self.test(value)))
        }
        return conditions
    }

    private static func test(_ value: JSONValue) throws(ServiceRefusal) -> Test {
        guard let members = value.members else { return .oneOf([IndexOrder(value)]) }
        if members.count == 1, let prefix = members["prefix"]?.text { return .prefix(prefix) }
        if members.count == 1, case .array(let values)? = members["in"], 1...20 ~= values.count {
            return .oneOf(values.map { IndexOrder($0) })
        }
        guard 1...2 ~= members.count, signs.isSuperset(of: members.keys) else { throw .invalid("where") }
        return .range(members.mapValues { IndexOrder($0) })
    }

    func matches(_ record: StoredRecord) -> Bool {
        let value = IndexOrder(record.value(of: field))
        switch test {
        case .oneOf(let wanted): return wanted.contains(value)
        case .prefix(let beginning):
            guard case .text(let text) = value else { return false }
            return text.unicodeScalars.starts(with: beginning.unicodeScalars)
        case .range(let bounds): return value.isWithin(bounds)
        }
    }
}
