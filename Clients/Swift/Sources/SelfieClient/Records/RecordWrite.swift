import Foundation

/// The body of a call that writes a record.
struct RecordBody<Fields: RecordFields>: Encodable {
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
        get throws { try JSONCoding.decode(JSONValue.self, from: JSONCoding.encode(self)) }
    }
}

/// A change of one record, in a form that can be stored and sent later.
struct RecordWrite: Sendable, Hashable, Codable {
    enum Kind: String, Codable { case put, delete }

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

    /// The call that makes the change.
    func call(_ api: APIClient) throws -> Call {
        var call = Call(kind == .put ? "PUT" : "DELETE", api.url(path))
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
        var call = prepared(try call(api))
        guard kind == .put else {
            do {
                try await api.send(call)
            } catch SelfieError.notFound {
                // It is gone, as it should be.
            }
            return nil
        }
        call.alsoAccepts = [412]
        let (response, mayBeDoneBefore) = try await api.sendNotingTries(call)
        guard response.status == 412 else { return response }
        let conflict = SelfieError.of(response)
        guard condition == .absent || mayBeMade || mayBeDoneBefore else { throw conflict }
        do {
            let record = try await api.send(prepared(Call("GET", api.url(path))))
            if try isMade(record, by: api, session) { return record }
        } catch SelfieError.notFound {
            // Then there is something else that the user can't see.
        }
        throw conflict
    }

    /// Whether a record is what this change would have made of it.
    private func isMade(_ response: TransportResponse, by api: APIClient, _ session: Session?) throws -> Bool {
        let record = try api.decode(JSONValue.self, from: response)
        let userID = try session?.userID ?? api.sessions.current()?.userID
        guard let data = body?["data"], record["data"] == data else { return false }
        return switch condition {
        case .none: true
        case .absent: record["owner"]?.text == userID
        case .version(let version): record["version"] == .integer(Int64(version) + 1)
        }
    }
}
