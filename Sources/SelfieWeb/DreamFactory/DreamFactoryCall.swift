import Budgets
import Concurrency
import Encodings
import Hummingbird
import JSON
import NIOCore
import OrderedCollections
import RecordSchema
import SelfieAccounts
import SelfieRecords

/// A call about the records of a table, as a client of DreamFactory sends it.
///
/// Its parameters are in the query, or in the JSON of its body: a POST may stand for another method.
struct DreamFactoryCall {
    private let parameters: RequestParameters
    /// The records of the body; nil when it has none.
    let rows: [OrderedDictionary<String, JSONValue>]?
    /// Whether the body is one record, and not a list.
    let isOne: Bool
    private let bodyIDs: [JSONValue]?
    private let asksForRelations: Bool
    /// Counts the body's memory until the call is dropped.
    private let permit: Permit<Int>

    /// The most bytes of a body.
    static let maxBodyBytes = 2 << 20
    /// The most records of a list, as DreamFactory had it.
    static let maxLimit = 1_000
    /// The same with records of other collections that refer to each of them.
    static let maxLimitWithMany = 100

    /// Reads the whole request.
    ///
    /// - Parameters:
    ///   - request: The request. Its body is consumed.
    ///   - context: Its context.
    ///   - memory: The bytes of bodies; the holders are users.
    ///   - takesRow: Whether an object without `record` is one record.
    /// - Throws: `ServiceError`, `TooBusy`, or what the connection throws.
    init(
        _ request: Request,
        _ context: SessionRequestContext,
        memory: Permits<Int>,
        takesRow: Bool
    ) async throws {
        // Many clients send all that they know, with nothing in it.
        let query = try FormParameters.parse(Array((request.uri.query ?? "").utf8)).filter { !$0.value.isEmpty }
        permit = memory.none(for: context.session.userID)
        var bytes: [UInt8] = []
        for try await chunk in try request.wantedBody(maxBytes: Self.maxBodyBytes, context: context) {
            guard bytes.count + chunk.readableBytes <= Self.maxBodyBytes else {
                throw ServiceError.bodyTooLarge(maxBytes: Self.maxBodyBytes)
            }
            try permit.grow(by: chunk.readableBytes)
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        try permit.grow(by: min(Self.maxParsedBytes, bytes.count * Self.parsedFactor))
        let text = bytes
        let body = try await offEventLoop { try Self.value(text) }
        (rows, isOne) = try Self.rows(of: body, takesRow: takesRow)
        var (texts, structures): ([String: String], [String: JSONValue]) = ([:], [:])
        var bodyIDs: [JSONValue]?
        if case .object(let members) = body, !isOne {
            for (name, value) in members where name != Self.record {
                switch value {
                case .string(""), .null: break
                case .string(let text), .number(let text): texts[name] = text
                case .boolean(let flag): texts[name] = String(flag)
                case .array(let values) where name == Endpoint.Parameter.rowIDs.name: bodyIDs = values
                case .array, .object: structures[name] = value
                }
            }
        }
        self.bodyIDs = query[Endpoint.Parameter.rowIDs.name] == nil ? bodyIDs : nil
        parameters = RequestParameters(
            query: query,
            body: texts,
            structures: structures,
            names: context.parameterNames
        )
        asksForRelations = (query[Endpoint.Parameter.related.name] ?? texts[Endpoint.Parameter.related.name]) != nil
        for (parameter, only) in [(Endpoint.Parameter.answerFormat, "json"), (.idField, DreamFactoryTable.id)] {
            guard try parameters.text(parameter) ?? only == only else { throw parameter.invalid }
        }
        guard try !parameters.flag(.continues) else { throw Endpoint.Parameter.continues.invalid }
    }

    /// The member of a body that has records.
    static let record = "record"
    /// About how much the values of a body take, which are at most 32,768.
    private static let (maxParsedBytes, parsedFactor) = (4 << 20, 32)

    /// A body that says nothing of its kind is JSON: some clients send it as a form.
    static func value(_ bytes: [UInt8]) throws(ServiceError) -> JSONValue? {
        let first = bytes.first { !" \t\r\n".utf8.contains($0) }
        guard let first else { return nil }
        guard first != UInt8(ascii: "<") else { throw .jsonRequired }
        do throws(JSONError) { return try JSONValue.parse(bytes) } catch { throw ServiceError(error) }
    }

    private static func rows(
        of body: JSONValue?,
        takesRow: Bool
    ) throws(ServiceError) -> (rows: [OrderedDictionary<String, JSONValue>]?, isOne: Bool) {
        let values: [JSONValue]
        switch body {
        case nil: return (nil, false)
        case .array(let elements)?: values = elements
        case .object(let members)?:
            switch members[Self.record] {
            case .array(let elements)?: values = elements
            case .object(let row)?: values = [.object(row)]
            default: return takesRow ? ([members], true) : (nil, false)
            }
        default: throw .jsonNotAnObject
        }
        guard values.count <= RecordLimits.maxBatchCount else { throw .tooManyRecords }
        var rows: [OrderedDictionary<String, JSONValue>] = []
        for value in values {
            guard case .object(let row) = value else { throw .jsonNotAnObject }
            rows.append(row)
        }
        return (rows, false)
    }

    // MARK: Which records

    /// The records that a call names.
    enum Selection {
        /// By their ids, each once.
        case ids([String])
        case conditions([FieldCondition])
    }

    /// The records that the call names by ids or by a filter; nil when it names none.
    ///
    /// Records of the body do not count.
    ///
    /// - Throws: `ServiceError` with status 400.
    func selection(of table: DreamFactoryTable, maxIDs: Int) throws(ServiceError) -> Selection? {
        let ids = try ids(max: maxIDs)
        guard let text = try parameters.text(.rowFilter) else { return ids.map(Selection.ids) }
        guard ids == nil else { throw Self.unsupported("ids together with filter") }
        return try Self.selection(text, of: table, maxIDs: maxIDs)
    }

    /// The records that the call names by ids, by a filter, or by records of the body with their ids; nil when it names none.
    ///
    /// - Throws: `ServiceError` with status 400, also for more than one of these ways.
    func selectionOrRows(of table: DreamFactoryTable, maxIDs: Int) throws(ServiceError) -> Selection? {
        let selection = try selection(of: table, maxIDs: maxIDs)
        guard let rows else { return selection }
        guard selection == nil else { throw Self.unsupported("ids or filter together with records") }
        return .ids(
            try Self.checked(
                rows.map { DreamFactoryTable.id($0[DreamFactoryTable.id] ?? .null) ?? "" },
                max: RecordLimits.maxBatchCount
            )
        )
    }

    private func ids(max: Int) throws(ServiceError) -> [String]? {
        var ids: [String]?
        if let bodyIDs {
            ids = bodyIDs.map { DreamFactoryTable.id($0) ?? "" }
        } else if let text = try parameters.text(.rowIDs) {
            ids = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingWhitespace() }
        }
        guard let ids else { return nil }
        return try Self.checked(ids, max: max)
    }

    private static func checked(_ ids: [String], max: Int) throws(ServiceError) -> [String] {
        guard ids.count <= max else { throw Endpoint.Parameter.rowIDs.invalid }
        guard ids.allSatisfy(RecordID.isValid) else { throw .recordIDInvalid }
        return Array(OrderedSet(ids))
    }

    private static func selection(
        _ text: String,
        of table: DreamFactoryTable,
        maxIDs: Int
    ) throws(ServiceError) -> Selection {
        let filter: DreamFactoryFilter
        do throws(DreamFactoryFilter.Unsupported) {
            filter = try DreamFactoryFilter(text)
        } catch {
            throw unsupported(error.part ?? "a filter that ends here")
        }
        if let test = filter.tests.first(where: { $0.field == DreamFactoryTable.id }) {
            guard filter.tests.count == 1, ["=", "in"].contains(test.word) else {
                throw unsupported("id with \(test.word), or with other conditions")
            }
            let values = if case .array(let values) = test.value { values } else { [test.value] }
            return .ids(try checked(values.map { DreamFactoryTable.id($0) ?? "" }, max: maxIDs))
        }
        var fields: OrderedDictionary<String, OrderedDictionary<String, JSONValue>> = [:]
        for test in filter.tests {
            let value = table.stored(test.value, of: test.field)
            guard fields[test.field, default: [:]].updateValue(value, forKey: test.word) == nil else {
                throw unsupported("\(test.field.isPlainName ? test.field : "a field") twice with \(test.word)")
            }
        }
        guard fields.count <= Schema.maxIndexCount else {
            throw unsupported("more than \(Schema.maxIndexCount) fields")
        }
        var conditions: [FieldCondition] = []
        for (field, words) in fields {
            do throws(FieldCondition.Malformed) {
                conditions.append(try FieldCondition(field, .object(words)))
            } catch {
                throw Endpoint.Parameter.rowFilter.invalid.saying(
                    "filter: \(field.isPlainName ? field : "a field") - \(error.reason),"
                )
            }
        }
        return .conditions(conditions)
    }

    private static func unsupported(_ part: String) -> ServiceError {
        // It may be as long as a filter, and have any character.
        let shown = String(String.UnicodeScalarView(part.unicodeScalars.prefix(60).filter { !$0.isControl }))
        return Endpoint.Parameter.rowFilter.invalid.saying(
            """
            filter - \(shown) is not supported (comparisons of fields with =, >, >=, <, <=, IN, LIKE 'beginning%' and IS NULL, \
            joined by AND),
            """
        )
    }

    /// A record with an id of its own, for records that are named otherwise.
    static let idBesideSelection = unsupported("ids or filter together with a record's own id")
    /// More was asked for than is read before a deletion.
    static let tooMuchToRead = Endpoint.Parameter.rowFields.invalid.saying(
        "fields - these records have more than 1 MiB: delete fewer, or ask for less,"
    )

    /// The order of the list.
    ///
    /// - Throws: `ServiceError` with status 400.
    func order() throws(ServiceError) -> RecordQuery.Order {
        guard let text = try parameters.text(.rowOrder) else { return .created }
        let words = text.split(whereSeparator: \.isWhitespace)
        let direction = words.count == 2 ? words[1].uppercased() : "ASC"
        guard (1...2).contains(words.count), ["ASC", "DESC"].contains(direction) else {
            throw Endpoint.Parameter.rowOrder.invalid
        }
        // Numbers are counted up as records are created.
        let index = words[0] == DreamFactoryTable.id ? RecordQuery.Order.creation[...] : words[0]
        guard let order = RecordQuery.Order((direction == "DESC" ? "-" : "") + index) else {
            throw Endpoint.Parameter.rowOrder.invalid
        }
        return order
    }

    /// How many records are wanted at most, at least 1.
    ///
    /// To some clients, 0 means all.
    ///
    /// - Throws: `ServiceError` with status 400.
    func limit(hasMany: Bool) throws(ServiceError) -> Int {
        let max = hasMany ? Self.maxLimitWithMany : Self.maxLimit
        let limit = try parameters.integer(.rowLimit) ?? 0
        return limit == 0 ? max : min(limit, max)
    }

    /// How many records are skipped.
    ///
    /// - Throws: `ServiceError` with status 400.
    func offset() throws(ServiceError) -> Int { try parameters.integer(.rowOffset) ?? 0 }

    // MARK: What is answered

    /// The fields of an answer.
    enum Fields {
        case all
        /// Only these, and the id.
        case some(Set<String>)

        /// The fields of a record that are wanted, in their order.
        func of(_ row: OrderedDictionary<String, JSONValue>) -> OrderedDictionary<String, JSONValue> {
            switch self {
            case .all: return row
            case .some(let names): return row.filter { $0.key == DreamFactoryTable.id || names.contains($0.key) }
            }
        }

        /// Whether more than the id is wanted.
        var areMore: Bool { if case .some(let names) = self { !names.isEmpty } else { true } }
    }

    /// The fields of the answer.
    ///
    /// - Parameter usual: Those that are answered when the call names none.
    /// - Returns: The fields.
    /// - Throws: `ServiceError` with status 400.
    func fields(usually usual: Fields) throws(ServiceError) -> Fields {
        guard let text = try parameters.text(.rowFields) else { return usual }
        return text == "*" ? .all : .some(Set(text.split(separator: ",").map { $0.trimmingWhitespace() }))
    }

    /// Whether the records of the list are counted.
    ///
    /// - Throws: `ServiceError` with status 400.
    func counts() throws(ServiceError) -> Bool { try parameters.flag(.countsRows) }

    /// The names of the relations that are wanted, each once; nil for all.
    ///
    /// - Throws: `ServiceError` with status 400.
    func relationNames() throws(ServiceError) -> [String]? {
        guard let text = try parameters.text(.related) else { return [] }
        if text == "*" { return nil }
        return Array(OrderedSet(text.split(separator: ",").map { $0.trimmingWhitespace() }))
    }

    /// Refuses relations in a call that changes something: it could still fail when all is done.
    ///
    /// - Throws: `ServiceError` with status 400.
    func requireNoRelations() throws(ServiceError) {
        guard asksForRelations else { return }
        throw Endpoint.Parameter.related.invalid.saying(
            "related - is for reading alone: read the records after the change,"
        )
    }
}
