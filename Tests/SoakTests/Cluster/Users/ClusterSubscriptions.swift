import ConnectionTestSupport
import TestSupport

/// What a user of a cluster wants to be told of by mail, though there is no mail server that could do it.
struct ClusterSubscriptions {
    /// The alerts by id.
    private var alerts: [String: String] = [:]

    /// The most that a user has.
    private static let maxCount = 3

    /// What a run must have had.
    static let calls = ["subscribe", "unsubscribe", "subscriptions"]

    /// Makes, changes or ends a subscription, and looks at the list.
    mutating func change(_ client: inout ClusterClient) async throws {
        let id = "s\(Int.random(in: 0..<Self.maxCount, using: &client.generator))"
        let path = "/api/subscriptions/\(id)"
        if alerts[id] != nil, Bool.random(using: &client.generator) {
            _ = try await client.succeed("unsubscribe", "DELETE", path, allows: [404])
            alerts[id] = nil
        } else {
            let alert = "\(client.name) \(client.next())"
            let json = #"{"collection":"inbox","on":["created"],"channel":"mail","alert":"\#(alert)"}"#
            _ = try await client.succeed("subscribe", "PUT", path, json: json)
            alerts[id] = alert
        }
        try await list(client)
    }

    func list(_ client: ClusterClient) async throws {
        let answer = try await client.succeed("subscriptions", "GET", "/api/subscriptions").answer
        let list = answer.json["subscriptions"] as? [[String: Any]] ?? []
        let found = list.map { "\($0["id"] as? String ?? "") \($0["alert"] as? String ?? "")" }.sorted()
        let own = alerts.map { "\($0.key) \($0.value)" }.sorted()
        client.expect(found == own, "the subscriptions are \(found) and not \(own)")
    }
}
