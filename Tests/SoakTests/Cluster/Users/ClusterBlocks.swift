import ConnectionTestSupport
import TestSupport

/// Whom a user of a cluster has blocked.
struct ClusterBlocks {
    private let members: ClusterMembers
    /// The members' ids.
    private var blocked: Set<String> = []

    /// What a run must have had.
    static let calls = ["block", "unblock", "blocks"]

    init(members: ClusterMembers) { self.members = members }

    /// Blocks somebody, or ends that, and looks at the list.
    mutating func change(_ client: inout ClusterClient) async throws {
        let strangers = ClusterMembers.strangers(to: client.number)
        guard let number = strangers.randomElement(using: &client.generator), let id = members.id(of: number) else {
            return
        }
        let path = "/api/blocks/\(id)"
        if blocked.contains(id) {
            _ = try await client.succeed("unblock", "DELETE", path)
            blocked.remove(id)
        } else {
            _ = try await client.succeed("block", "PUT", path)
            blocked.insert(id)
        }
        try await list(client)
    }

    func list(_ client: ClusterClient) async throws {
        let answer = try await client.succeed("blocks", "GET", "/api/blocks").answer
        let found = (answer.json["blocks"] as? [String] ?? []).sorted()
        client.expect(found == blocked.sorted(), "\(found) are blocked and not \(blocked.sorted())")
    }
}
