import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import TestSupport

/// The records of a user of a cluster, which nobody else may read.
struct ClusterRecords {
    /// The texts and versions of records by id.
    private var records: [String: (text: String, version: Int)] = [:]
    /// The versions that deleted records ended with.
    ///
    /// A new record with such an id goes on from there.
    private var endVersions: [String: Int] = [:]

    /// The most that a user has at the same time.
    private static let maxCount = 20

    /// What a run must have had.
    static let calls = [
        "put record", "change record", "create records", "delete record", "get record", "list records",
        "other's record",
    ]

    /// The versions of records by id.
    var versions: [String: Int] { records.mapValues { $0.version } }

    // MARK: - Changes

    mutating func put(_ client: inout ClusterClient) async throws {
        let id = "\(client.name)-r\(Int.random(in: 0..<Self.maxCount, using: &client.generator))"
        let text = "\(client.name) \(client.next())"
        let settled = try await client.succeed("put record", "PUT", "/api/records/houses/\(id)", json: Self.data(text))
        take(settled, id: id, text: text, times: settled.tries, client)
    }

    private static func data(_ text: String) -> String { #"{"data":{"address":"\#(text)"}}"# }

    /// Notes a record's new state.
    ///
    /// Each time that a call takes effect adds one to the version. That can't be more often than it was sent.
    private mutating func take(
        _ settled: ClusterCalls.Settled,
        id: String,
        text: String,
        times: Int,
        _ client: ClusterClient
    ) {
        let json = settled.answer.json
        guard settled.answer.status == 200, let version = json["version"] as? Int else { return }
        let answered = (json["data"] as? [String: Any])?["address"] as? String
        client.expect(answered == text, "\(id) is \(answered ?? "") and not \(text)")
        let before = records[id]?.version ?? endVersions[id] ?? 0
        client.expect(
            Self.follows(version, before, times: times),
            "\(id) went from version \(before) to \(version), by a call that was sent \(times) times"
        )
        records[id] = (text, version)
    }

    /// Whether a version can follow another one by a call that may have taken effect several times.
    static func follows(_ version: Int, _ before: Int, times: Int) -> Bool {
        (before + 1...before + times).contains(version)
    }

    /// Changes a version, which can happen once.
    mutating func change(_ client: inout ClusterClient) async throws {
        guard let (id, known) = records.randomElement(using: &client.generator) else { return }
        let text = "\(client.name) \(client.next())"
        let settled = try await client.settle(
            "change record",
            "PATCH",
            "/api/records/houses/\(id)",
            headers: [("If-Match", "\"\(known.version)\"")],
            json: Self.data(text)
        )
        if settled.answer.status == 412, settled.isRepeated {
            let answer = try await client.succeed("get record", "GET", "/api/records/houses/\(id)").answer
            let there = (answer.json["data"] as? [String: Any])?["address"] as? String
            let isOnce = there == text && answer.json["version"] as? Int == known.version + 1
            client.expect(isOnce, "\(id) is \(answer.text) after a change of version \(known.version) to \(text)")
            records[id] = (text, known.version + 1)
        } else {
            client.expect(settled, "change record")
            take(settled, id: id, text: text, times: 1, client)
        }
    }

    mutating func create(_ client: inout ClusterClient) async throws {
        guard records.count < Self.maxCount else { return }
        let count = client.next()
        let ids = (0..<3).map { "\(client.name)-c\(count)-\($0)" }
        let text = "\(client.name) \(count)"
        let list = ids.map { #"{"id":"\#($0)","data":{"address":"\#(text)"}}"# }.joined(separator: ",")
        let path = "/api/records/houses"
        let settled = try await client.succeed("create records", "POST", path, json: "[\(list)]", allows: [409])
        let status = settled.answer.status
        // Some of them without the others would be 200, and then seen in the list.
        for id in ids where status == 200 || status == 409 { records[id] = (text, 1) }
        guard status == 200 else { return }
        let versions = settled.answer.jsonArray?.compactMap { $0["version"] as? Int } ?? []
        client.expect(versions == [1, 1, 1], "new records have the versions \(versions)")
    }

    mutating func delete(_ client: inout ClusterClient) async throws {
        guard let (id, known) = records.randomElement(using: &client.generator) else { return }
        _ = try await client.succeed("delete record", "DELETE", "/api/records/houses/\(id)", allows: [404])
        records[id] = nil
        endVersions[id] = known.version + 1
    }

    // MARK: - Reading

    func get(_ client: inout ClusterClient) async throws {
        guard let (id, known) = records.randomElement(using: &client.generator) else { return }
        let answer = try await client.succeed("get record", "GET", "/api/records/houses/\(id)").answer
        let text = (answer.json["data"] as? [String: Any])?["address"] as? String
        let isKnown = text == known.text && answer.json["version"] as? Int == known.version
        client.expect(isKnown, "\(id) is \(answer.text.prefix(200)) and not \(known)")
    }

    func list(_ client: ClusterClient) async throws {
        let answer = try await client.succeed("list records", "GET", "/api/records/houses?limit=200").answer
        let found = answer.records.map { record in
            let text = (record["data"] as? [String: Any])?["address"] as? String
            return "\(record["id"] as? String ?? "") \(text ?? "") \(record["version"] as? Int ?? 0)"
        }.sorted()
        let own = records.map { "\($0.key) \($0.value.text) \($0.value.version)" }.sorted()
        let (lost, extra) = (own.filter { !found.contains($0) }, found.filter { !own.contains($0) })
        client.expect(lost.isEmpty && extra.isEmpty, "lost \(lost), too many \(extra)")
    }

    /// Looks for what belongs to the next user.
    func lookAtOthers(_ client: inout ClusterClient) async throws {
        let id = "u\(client.number + 1)-r\(Int.random(in: 0..<Self.maxCount, using: &client.generator))"
        let answer = try await client.settle("other's record", "GET", "/api/records/houses/\(id)").answer
        client.expect(answer.status == 404, "\(id) of another user was answered with \(answer.status)")
    }
}
