import ConnectionTestSupport
import Foundation
import TestSupport

/// How a user of a cluster calls it, and notes what must not be.
///
/// One call follows another. A call that fails is sent again until it is answered. So the state is always known.
struct ClusterClient: Sendable {
    let number: Int
    /// The session's token; empty before the first one.
    var token = ""
    /// How many accounts the user has had before.
    var generation = 0
    var generator: SplitMix64
    private let calls: ClusterCalls
    private var lastNumber = 0

    init(number: Int, calls: ClusterCalls) {
        (self.number, self.calls) = (number, calls)
        generator = SplitMix64(seed: UInt64(number))
    }

    /// What the account's address, and all ids and titles begin with.
    var name: String { generation == 0 ? "u\(number)" : "u\(number)-\(generation)" }

    /// A number that the user has not had before.
    mutating func next() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Sends a call until it is answered.
    ///
    /// - Parameters:
    ///   - call: What it is named in reports.
    ///   - method: Such as `GET`.
    ///   - target: The path and query.
    ///   - headers: Names and values. Without `Authorization`, the token is sent along.
    ///   - json: The body, as JSON.
    ///   - body: Another body.
    ///   - token: Another token than that of the session.
    /// - Returns: The answer.
    /// - Throws: `ClusterCalls.Unanswered`.
    func settle(
        _ call: String,
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        json: String? = nil,
        body: Data? = nil,
        token: String? = nil
    ) async throws -> ClusterCalls.Settled {
        var headers = headers
        if !headers.contains(where: { $0.0 == "Authorization" }) {
            headers.append(("Authorization", "Bearer \(token ?? self.token)"))
        }
        if json != nil { headers.append(("Content-Type", "application/json")) }
        let body = body ?? json.map { Data($0.utf8) }
        return try await calls.settle(call, method, target, headers: headers, body: body, edge: number)
    }

    /// Sends a call that must succeed.
    ///
    /// - Parameters:
    ///   - call: What it is named in reports.
    ///   - method: Such as `GET`.
    ///   - target: The path and query.
    ///   - json: The body, as JSON.
    ///   - allows: Other statuses that the answer to a call may have that was sent more than once.
    /// - Returns: The answer.
    /// - Throws: `ClusterCalls.Unanswered`.
    func succeed(
        _ call: String,
        _ method: String,
        _ target: String,
        json: String? = nil,
        allows: [Int] = []
    ) async throws -> ClusterCalls.Settled {
        let settled = try await settle(call, method, target, json: json)
        expect(settled, call, allows: settled.isRepeated ? allows : [])
        return settled
    }

    func expect(_ settled: ClusterCalls.Settled, _ what: String, allows: [Int] = []) {
        let status = settled.answer.status
        if status != 200, !allows.contains(status) {
            calls.violate("\(name): \(what) was answered with \(status): \(settled.answer.text.prefix(200))")
        }
    }

    func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
        if !isTrue { calls.violate("\(name): \(what())") }
    }

    /// Counts something that a run must have had, beside the calls themselves.
    func count(_ what: String) { calls.count(what) }
}
