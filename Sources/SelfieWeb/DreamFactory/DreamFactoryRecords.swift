import Budgets
import Hummingbird
import JSON
import OrderedCollections
import RecordSchema
import SelfieAccounts
import SelfieCore
import SelfieRecords

/// Reads and writes a table's records for one call of a client of DreamFactory.
struct DreamFactoryRecords: Sendable {
    private let parts: WebParts
    private let request: Request
    private let context: SessionRequestContext
    let table: DreamFactoryTable

    /// How many pages are read for one list.
    private static let maxPageCount = 12
    /// How often a change of what fits a filter is retried, if others change the same records.
    private static let maxAttemptCount = 3

    /// - Throws: `RecordRefusal` when there is no such table for the user, `PostgresError`.
    init(_ parts: WebParts, _ request: Request, _ context: SessionRequestContext, table name: String) async throws {
        (self.parts, self.request, self.context) = (parts, request, context)
        let schema = try await parts.useCases.records.readRecords.schema(reaching: name, by: context.session.userID)
        guard let collection = schema.collection(name) else { throw RecordRefusal(.noCollection) }
        table = DreamFactoryTable(schema: schema, collection: collection)
    }

    private var userID: Int { context.session.userID }
    private var location: RecordLocation { RecordLocation(collection: table.collection.name, inboxOf: nil) }
    private var readRecords: ReadRecords { parts.useCases.records.readRecords }

    // MARK: Lists

    /// A list, as far as it was read.
    struct List {
        var records: [StoredRecord] = []
        var included: [StoredRecord] = []
        /// Whether more records follow.
        var hasMore = false
        var count: Int?
    }

    /// Reads the records of a list, page by page, until there are enough of them or about a mebibyte.
    ///
    /// - Parameters:
    ///   - selection: Which records; nil for all.
    ///   - order: Their order.
    ///   - limit: The most records.
    ///   - offset: How many are skipped.
    ///   - include: The fields whose targets are wanted, too.
    ///   - counts: Whether all records of the list are counted.
    /// - Returns: The records, each once.
    /// - Throws: `ServiceError`, `TooBusy`, `PostgresError`.
    func list(
        _ selection: DreamFactoryCall.Selection?,
        order: RecordQuery.Order = .created,
        limit: Int,
        offset: Int = 0,
        include: [String] = [],
        counts: Bool = false
    ) async throws -> List {
        var (conditions, ids): ([FieldCondition], [String]?) = ([], nil)
        switch selection {
        case .ids(let named)?: ids = named
        case .conditions(let asked)?: conditions = asked
        case nil: break
        }
        var (list, seen, bytes, after): (List, Set<String>, Int, RecordQuery.Position?) = (List(), [], 0, nil)
        for _ in 1...Self.maxPageCount {
            let query = RecordQuery(
                conditions: conditions,
                ids: ids,
                order: order,
                limit: min(limit - list.records.count, RecordLimits.maxPageCount),
                offset: after == nil ? offset : 0,
                after: after,
                include: include,
                counts: counts && after == nil
            )
            let search = query.searches ? try parts.permits.searches.acquire(for: userID) : nil
            defer { withExtendedLifetime(search) {} }
            guard let page = try await page(query, of: table.collection.name) else { break }
            // How many of them fit the conditions is not known, so neither is how many are still to be skipped.
            if page.isLimited, query.offset > 0, page.records.count < query.limit { throw Self.offsetTooFar }
            // One that is moved meanwhile may come again.
            list.records += page.records.filter { seen.insert($0.id).inserted }
            list.included += page.included
            list.count = list.count ?? page.count?.value
            bytes += (page.records + page.included).reduce(0) { $0 + $1.data.utf8.count }
            after = page.next.flatMap { RecordQuery.Position($0) }
            list.hasMore = after != nil
            if after == nil || list.records.count >= limit || bytes >= RecordQuery.maxPageBytes { break }
        }
        return list
    }

    private static let offsetTooFar = Endpoint.Parameter.rowOffset.invalid.saying(
        "offset - more than \(RecordQuery.maxLookedAtCount) records would have to be looked at: ask by a narrower filter,"
    )

    /// A page of a collection; nil where the record at the end of the page before is hidden by now.
    ///
    /// Its refusals speak of `filter`, since the client knows no `where`.
    func page(_ query: RecordQuery, of collection: String) async throws -> RecordPage? {
        do {
            return try await readRecords.page(
                query,
                in: RecordLocation(collection: collection, inboxOf: nil),
                by: userID
            )
        } catch let refusal as RecordRefusal {
            let error = ServiceError(refusal)
            switch refusal.reason {
            case .noSuchPosition where query.after != nil: return nil
            case .noIndex(let field): throw error.saying("filter, order - the collection has no index of \(field)")
            case .invalidCondition:
                throw error.saying(error.message.replacing("where:", with: "filter:", maxReplacements: 1))
            default: throw error
            }
        }
    }

    // MARK: Relations

    /// The relations that a call asks for, among those that its user may see.
    ///
    /// - Throws: `ServiceError` for a relation that is not there or not for this user, or for too many, `PostgresError`.
    func relations(of call: DreamFactoryCall) async throws -> DreamFactoryRelated {
        var relations: [DreamFactoryRelation] = []
        let asked = try call.relationNames()
        for relation in asked == nil ? table.allRelations : [] where try await isListed(relation) {
            relations.append(relation)
        }
        for name in asked ?? [] {
            guard let relation = table.relation(name), try await isListed(relation) else {
                throw Endpoint.Parameter.related.invalid.saying(
                    "related - \(name.isPlainName ? name : "a name") is no relation of \(table.collection.name),"
                )
            }
            relations.append(relation)
        }
        return try DreamFactoryRelated(relations)
    }

    private func isListed(_ relation: DreamFactoryRelation) async throws -> Bool {
        guard case .hasMany(let collection, _) = relation.kind else { return true }
        return try await readRecords.lists(collection, by: userID)
    }

    /// Adds to relations the records that a list has found, and reads what refers to those of the list.
    ///
    /// - Throws: `ServiceError` when that is too much, `TooBusy`, `PostgresError`.
    func find(_ related: inout DreamFactoryRelated, of list: List) async throws {
        related.add(list.included)
        guard related.hasMany else { return }
        // Each of them takes several statements.
        let search = try parts.permits.searches.acquire(for: userID)
        defer { withExtendedLifetime(search) {} }
        for relation in related.relations {
            guard case .hasMany(let collection, let field) = relation.kind else { continue }
            let ids = list.records.map(\.id)
            for start in stride(from: 0, to: ids.count, by: FieldCondition.maxValueCount) {
                let chunk = ids[start..<min(start + FieldCondition.maxValueCount, ids.count)]
                let condition = try FieldCondition(field, ["in": JSONValue(Array(chunk))])
                var after: RecordQuery.Position?
                repeat {
                    let query = RecordQuery(conditions: [condition], limit: RecordLimits.maxPageCount, after: after)
                    guard let page = try await page(query, of: collection) else { break }
                    try related.add(page.records, of: relation, by: field)
                    after = page.next.flatMap { RecordQuery.Position($0) }
                } while after != nil
            }
        }
    }

    // MARK: Writing

    static let tooManyFit = Endpoint.Parameter.rowFilter.invalid.saying(
        "filter - more than \(RecordLimits.maxBatchCount) records fit, or more than 1 MiB of them: ask by a narrower one,"
    )

    /// Runs the operations of a call: all of them, or none.
    ///
    /// - Throws: `ServiceError`, or what the use case throws.
    @discardableResult
    func write(_ operations: [RecordOperation], areMany: Bool) async throws -> [StoredRecord] {
        try await parts.writeRecords(operations, in: location, request, context, areMany: areMany)
    }

    /// Changes the records that fit a selection, as they are when they are changed.
    ///
    /// - Parameters:
    ///   - selection: The records.
    ///   - operation: Makes the operation on one of them.
    /// - Returns: The records as they were before, and afterwards.
    /// - Throws: `ServiceError`, or what the use cases throw.
    func write(
        to selection: DreamFactoryCall.Selection?,
        _ operation: (_ id: String, RecordOperation.Condition) throws -> RecordOperation
    ) async throws -> (before: [StoredRecord], after: [StoredRecord]) {
        var attempt = 1
        while true {
            let list = try await list(selection, limit: RecordLimits.maxBatchCount)
            guard !list.hasMore else { throw Self.tooManyFit }
            if list.records.isEmpty { return ([], []) }
            let operations = try list.records.map { try operation($0.id, .version([$0.version])) }
            do {
                return (list.records, try await write(operations, areMany: true))
            } catch let refusal as ServiceError where refusal.isOfOtherChange && attempt < Self.maxAttemptCount {
                attempt += 1
            }
        }
    }
}

extension ServiceError {
    /// Whether another call has changed or deleted a record meanwhile.
    fileprivate var isOfOtherChange: Bool {
        code == ServiceError.recordVersionDiffers.code || code == ServiceError.recordNotFound.code
    }
}
