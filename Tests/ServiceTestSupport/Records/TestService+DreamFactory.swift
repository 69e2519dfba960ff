package import ConnectionTestSupport
import Foundation
import ServerProcesses
import TestSupport

extension TestService {
    /// The schema file of the bug tracker.
    package static var bugTracker: String {
        get throws {
            let file = ProjectFolder.root.appending(path: "docs/examples/bug-tracker.json")
            return try String(contentsOf: file, encoding: .utf8)
        }
    }

    /// Sends a call as an app that was made for DreamFactory.
    ///
    /// - Parameters:
    ///   - method: Such as `GET`.
    ///   - target: The path below `/rest`, and the query.
    ///   - member: Whose session it is; nil for none.
    ///   - body: JSON; nil for none.
    ///   - headers: More headers.
    /// - Returns: The answer.
    /// - Throws: What the connection throws.
    package func rest(
        _ method: String,
        _ target: String,
        as member: TestMember? = nil,
        _ body: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        var headers = headers + [("X-DreamFactory-Application-Name", "bugs")]
        if let member { headers.append(("X-DreamFactory-Session-Token", member.token)) }
        if body != nil, !headers.contains(where: { $0.0 == "Content-Type" }) {
            headers.append(("Content-Type", "application/json"))
        }
        return try await send(method, "/rest\(target)", headers: headers, body: body.map { Data($0.utf8) })
    }
}

extension HTTPAnswer {
    /// The records of an answer of DreamFactory's routes.
    package var rows: [[String: Any]] { json["record"] as? [[String: Any]] ?? [] }

    /// Their ids, where they are numbers.
    package var rowIDs: [Int] { rows.compactMap { $0["id"] as? Int } }
}
