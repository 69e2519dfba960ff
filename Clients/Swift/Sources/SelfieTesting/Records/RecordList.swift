import Foundation
import SelfieClient

/// A list of records as a call asks for it.
struct RecordList: Sendable {
    /// Where a record is in the order of the list.
    private struct Position: Comparable {
        let value: IndexOrder
        let number: Int

        static func < (first: Position, second: Position) -> Bool {
            first.value == second.value ? first.number < second.number : first.value < second.value
        }
    }

    /// What `next` stands for.
    private struct Cursor: Codable {
        let order: String
        let value: JSONValue
        let number: Int
    }

    private let conditions: [RecordCondition]
    /// Nil for records with any id.
    private let ids: Set<String>?
    private let order: String
    private let limit: Int
    private let after: String?
    let include: [String]
    let counts: Bool
    private static let usualLimit = 50
    private static let maxPageCount = 200
    private static let maxCount = 10_000

    /// Reads the query of a call.
    ///
    /// - Throws: `ServiceRefusal`.
    init(_ request: ServiceRequest, in collection: RecordSchema.Collection) throws {
        conditions = try RecordCondition.all(request.query["where"], in: collection)
        let ids = try request.list("ids", max: Self.maxPageCount)
        if ids != nil, !conditions.isEmpty { throw ServiceRefusal.invalid("ids", valid: "not together with where") }
        guard ids?.allSatisfy(ItemKey.isValid) ?? true else { throw ServiceRefusal.recordIDInvalid }
        self.ids = ids.map { Set($0) }
        order = request.query["order"] ?? "created"
        limit =
            try request.number("limit", in: 1...Self.maxPageCount) ?? (ids == nil ? Self.usualLimit : Self.maxPageCount)
        (after, counts) = (request.query["after"], request.query["count"] == "true")
        include = try Self.include(request, in: collection)
        if let field, !collection.indexes.contains(field) { throw ServiceRefusal.indexMissing(field) }
    }

    /// The fields whose records come along.
    ///
    /// - Throws: `ServiceRefusal` for a field that is no reference.
    static func include(_ request: ServiceRequest, in collection: RecordSchema.Collection) throws -> [String] {
        let names = (request.query["include"] ?? "").split(separator: ",").map(String.init)
        for name in names where collection.fields?[name]?.target == nil {
            let message = "include - \(name) is not a reference field"
            throw ServiceRefusal(status: 400, code: "include_no_reference", message: message)
        }
        return names
    }

    private var isDescending: Bool { order.hasPrefix("-") }

    /// The field to sort by; nil for the order of creation.
    private var field: String? {
        let name = isDescending ? String(order.dropFirst()) : order
        return name == "created" ? nil : name
    }

    private func position(_ record: StoredRecord) -> Position {
        Position(value: field.map { IndexOrder(record.value(of: $0)) } ?? .nothing, number: record.number)
    }

    /// Chooses a page.
    ///
    /// - Parameter visible: The records that the user may see.
    /// - Returns: The page, what to send for the next one, and how many records fit.
    /// - Throws: `ServiceRefusal` if `after` is no position.
    func page(of visible: [StoredRecord]) throws -> (records: [StoredRecord], next: String?, count: Int) {
        let matching = visible.filter { record in
            (ids?.contains(record.key.id) ?? true) && conditions.allSatisfy { $0.matches(record) }
        }
        var sorted = matching.sorted { position($0) < position($1) }
        if isDescending { sorted.reverse() }
        if let start = try start(visible) {
            sorted = sorted.filter { isDescending ? position($0) < start : start < position($0) }
        }
        let page = Array(sorted.prefix(limit))
        guard sorted.count > limit, let last = page.last else { return (page, nil, min(matching.count, Self.maxCount)) }
        return (page, try cursor(last), min(matching.count, Self.maxCount))
    }

    private func cursor(_ record: StoredRecord) throws -> String {
        let value = field.flatMap { record.value(of: $0) } ?? .null
        let cursor = Cursor(order: order, value: value, number: record.number)
        return try JSONCoding.encode(cursor).base64EncodedString()
    }

    private func start(_ visible: [StoredRecord]) throws -> Position? {
        guard let after else { return nil }
        if let data = Data(base64Encoded: after), let cursor = try? JSONCoding.decode(Cursor.self, from: data),
            cursor.order == order
        {
            return Position(value: IndexOrder(cursor.value), number: cursor.number)
        }
        guard field == nil, let record = visible.first(where: { $0.key.id == after }) else {
            throw ServiceRefusal.invalid("after", valid: "next of the previous page, or the id of a record in the list")
        }
        return position(record)
    }
}
