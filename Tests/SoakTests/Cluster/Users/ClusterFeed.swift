import ConnectionTestSupport
import ServiceTestSupport

/// The state of a user of a cluster by the feed of changes.
struct ClusterFeed {
    /// The versions of records by collection and id, and 0 for photos.
    private var followed: [String: Int] = [:]
    private var cursor = ""

    /// What a run must have had.
    static let calls = ["changes"]

    /// The versions by id in a collection, and 0 for photos.
    func versions(in collection: String) -> [String: Int] {
        followed.reduce(into: [:]) { versions, one in
            if one.key.hasPrefix("\(collection)/") {
                versions[String(one.key.dropFirst(collection.count + 1))] = one.value
            }
        }
    }

    /// Reads on to the end.
    ///
    /// - Returns: Whether it got there.
    mutating func read(_ client: ClusterClient) async throws -> Bool {
        while true {
            let query = cursor.isEmpty ? "" : "?since=\(cursor)"
            let answer = try await client.succeed("changes", "GET", "/api/changes\(query)").answer
            guard answer.status == 200 else { return false }
            for change in answer.changes {
                let key = "\(change["collection"] as? String ?? "")/\(change["id"] as? String ?? "")"
                if change["type"] as? String == "deleted" {
                    followed[key] = nil
                } else {
                    followed[key] = (change["record"] as? [String: Any])?["version"] as? Int ?? 0
                }
            }
            cursor = answer.cursor
            if answer.json["more"] as? Bool != true { return true }
        }
    }

    /// Expects that a collection is just as the user knows it.
    func expect(_ own: [String: Int], in collection: String, _ client: ClusterClient) {
        let seen = versions(in: collection)
        let missed = own.filter { seen[$0.key] != $0.value }.keys
        let extra = seen.keys.filter { own[$0] == nil }
        client.expect(
            missed.isEmpty && extra.isEmpty,
            "the feed of \(collection) misses \(missed.sorted()), and has \(extra.sorted())"
        )
    }
}
