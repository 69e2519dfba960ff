import Hummingbird
import JSON
import OrderedCollections
import RecordSchema
import SelfieAccounts
import SelfieRecords

extension RecordQuery {
    /// Reads which records a request asks for.
    ///
    /// - Throws: `ServiceError` with status 400.
    init(_ request: Request, context: some ConnectionContext) throws(ServiceError) {
        let parameters = try RequestParameters.readQuery(of: request, context: context)
        let ids = try parameters.list(.recordIDs, max: RecordLimits.maxPageCount)
        let conditions = try Self.conditions(parameters)
        // A list of ids takes no conditions: a client leaves out the ids that it does not want.
        if ids != nil, !conditions.isEmpty {
            throw ServiceError(.invalid, of: Endpoint.Parameter.recordIDs.name, valid: "not together with where")
        }
        if let ids, !ids.allSatisfy(RecordID.isValid) { throw .recordIDInvalid }
        self.init(
            conditions: conditions,
            ids: ids,
            order: try Self.order(parameters),
            limit: try parameters.integer(.recordLimit) ?? (ids == nil ? Self.usualLimit : RecordLimits.maxPageCount),
            after: try Self.position(parameters),
            include: try parameters.list(.include, max: Self.maxIncludeCount) ?? [],
            counts: try parameters.flag(.countsRecords)
        )
    }

    private static func position(_ parameters: RequestParameters) throws(ServiceError) -> Position? {
        guard let text = try parameters.text(.recordAfter) else { return nil }
        guard let position = Position(text) else {
            throw Endpoint.Parameter.recordAfter.invalid
        }
        return position
    }

    private static func order(_ parameters: RequestParameters) throws(ServiceError) -> Order {
        guard let text = try parameters.text(.recordOrder) else { return .created }
        guard let order = Order(text) else { throw Endpoint.Parameter.recordOrder.invalid }
        return order
    }

    private static func conditions(_ parameters: RequestParameters) throws(ServiceError) -> [FieldCondition] {
        guard let text = try parameters.text(.where) else { return [] }
        let invalid = Endpoint.Parameter.where.invalid
        guard case .object(let members)? = try? JSONValue.parse(text.utf8), members.count <= Schema.maxIndexCount else {
            throw invalid
        }
        var conditions: [FieldCondition] = []
        for (field, value) in members {
            do throws(FieldCondition.Malformed) {
                conditions.append(try FieldCondition(field, value))
            } catch {
                throw invalid.saying("where: \(field) - \(error.reason),")
            }
        }
        return conditions
    }
}

extension RequestParameters {
    /// The words of a list with commas; nil when it is missing.
    ///
    /// - Parameters:
    ///   - parameter: The parameter.
    ///   - max: The most words.
    /// - Returns: Each word once.
    /// - Throws: `ServiceError` with status 400 for an empty word, or too many.
    func list(_ parameter: Endpoint.Parameter, max: Int) throws(ServiceError) -> [String]? {
        guard let text = try text(parameter) else { return nil }
        let words = OrderedSet(text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) })
        guard words.count <= max, !words.contains("") else { throw parameter.invalid }
        return Array(words)
    }
}
