import Foundation

/// The body of a call that writes a record.
struct RecordBody<Fields: Encodable>: Encodable {
    /// All data of the record, or a merge patch.
    var data: Fields
    var readers: [String]?
    var writers: [String]?
    var expiresAt: Date?

    private enum CodingKeys: String, CodingKey {
        case data, readers, writers
        case expiresAt = "expires_at"
    }

    /// The body as JSON.
    var json: JSONValue {
        get throws { try JSONValue(encoding: self) }
    }
}

/// A change of one record, in a form that can be stored and sent later.
struct RecordWrite: Sendable, Hashable, Codable {
    enum Kind: String, Codable {
        case put, delete
        /// `data` of the body is a merge patch.
        case patch
    }

    /// What must hold, or the record is not changed.
    enum Condition: Sendable, Hashable, Codable {
        case none
        /// There is no such record.
        case absent
        /// The record has this version.
        case version(Int)
    }

    /// The segments of the record's path behind `api`.
    var path: [String]
    var kind: Kind
    var condition: Condition = .none
    var body: JSONValue?

    private var isInInbox: Bool { path.first == "members" }

    /// The call that makes the change.
    func call(_ api: APIClient) throws -> Call {
        var call = Call(kind.rawValue.uppercased(), api.url(path))
        call.isRepeatable = true
        switch condition {
        case .none: break
        case .absent: call.headers["If-None-Match"] = "*"
        case .version(let version): call.headers["If-Match"] = "\"\(version)\""
        }
        if let body { try call.send(body) }
        return call
    }

    /// Makes the change.
    ///
    /// What was made already, and whose answer was lost, counts as made. Without a lost answer, an equal change of a version is
    /// somebody else's. The user's own record with the same data counts as created.
    ///
    /// - Parameters:
    ///   - api: Sends the calls.
    ///   - session: Whose change it is; nil for the present session's.
    ///   - isTriedOnce: Whether a problem is returned at once.
    ///   - mayBeMade: Whether the service may have made this change already.
    /// - Returns: The answer with the record; nil if it was deleted.
    /// - Throws: ``SelfieError``, or `CancellationError`.
    func send(_ api: APIClient, _ session: Session?, isTriedOnce: Bool = false, mayBeMade: Bool = false) async throws
        -> TransportResponse?
    {
        func prepared(_ call: Call) -> Call {
            var call = call
            if let session { call.authentication = .session(session) }
            call.isTriedOnce = isTriedOnce
            return call
        }
        let look = prepared(Call("GET", api.url(path)))
        let findMade: @Sendable (Bool) async throws -> TransportResponse? = { mayBeMade in
            do {
                let record = try await api.send(look)
                return try isMade(record, by: api, session, mayBeMade: mayBeMade) ? record : nil
            } catch SelfieError.notFound {
                // Either there is nothing, or something that the user can't see.
                return nil
            }
        }
        var call = prepared(try call(api))
        switch (kind, condition) {
        case (.delete, _):
            do {
                let response = try await api.send(call)
                // Another server's page is no answer to it.
                guard try api.decode(JSONValue.self, from: response)["deleted"] != .none else {
                    throw SelfieError.unexpectedAnswer(status: response.status)
                }
            } catch SelfieError.notFound {
                // It is gone, as it should be.
            }
            return nil
        case (_, .none):
            // An inbox takes the same message again by itself, and shows its sender nothing.
            if isInInbox { return try confirmed(try await api.send(call), by: api) }
            if mayBeMade, let record = try await findMade(true) { return record }
            call.findDone = { try await findMade(true) }
            return try confirmed(try await api.send(call), by: api)
        default:
            call.alsoAccepts = [412]
            let (response, mayBeDoneBefore) = try await api.sendNotingTries(call)
            guard response.status == 412 else { return try confirmed(response, by: api) }
            let mayBeMade = mayBeMade || mayBeDoneBefore
            if condition == .absent || mayBeMade, let record = try await findMade(mayBeMade) { return record }
            throw SelfieError.of(response)
        }
    }

    /// The answer, if it has the record.
    ///
    /// - Throws: ``SelfieError/unexpectedAnswer(status:)`` for another server's page.
    private func confirmed(_ response: TransportResponse, by api: APIClient) throws -> TransportResponse {
        guard try api.decode(JSONValue.self, from: response)["id"]?.text == path.last else {
            throw SelfieError.unexpectedAnswer(status: response.status)
        }
        return response
    }

    /// Whether a record is what this change would have made of it, or was created by it and changed since.
    ///
    /// - Parameters:
    ///   - response: The record.
    ///   - api: Who asks.
    ///   - session: Whose change it is; nil for the present session's.
    ///   - mayBeMade: Whether the service may have made this change already. Then a record with a later version may have been
    ///     created by it.
    /// - Returns: Whether it is.
    /// - Throws: ``SelfieError``.
    private func isMade(
        _ response: TransportResponse,
        by api: APIClient,
        _ session: Session?,
        mayBeMade: Bool
    ) throws -> Bool {
        let record = try api.decode(JSONValue.self, from: response)
        let userID = try session?.userID ?? api.sessions.current()?.userID
        guard let data = body?["data"], let present = record["data"] else { return false }
        let isEqual = present == (kind == .patch ? present.applying(mergePatch: data) : data)
        return switch condition {
        case .none: isEqual
        case .absent: record["owner"]?.text == userID && (isEqual || mayBeMade && record["version"] != .integer(1))
        case .version(let version): isEqual && record["version"] == .integer(Int64(version) + 1)
        }
    }
}
