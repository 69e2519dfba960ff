package import ConnectionTestSupport
import Foundation
import TestSupport
import Testing

extension TestService {
    /// Writes a record, and expects that it is.
    package func put(_ path: String, as member: TestMember, _ body: String) async throws {
        let answer = try await call("PUT", "/api/records/\(path)", as: member, body)
        #expect(answer.status == 200, "\(path): \(answer.text)")
    }

    /// A page of changes.
    package func changes(_ query: String, as member: TestMember) async throws -> HTTPAnswer {
        try await call("GET", "/api/changes\(query)", as: member)
    }

    /// Uploads a photo; returns its id.
    package func upload(as member: TestMember) async throws -> String {
        let answer = try await send(
            "POST",
            "/api/upload_photo",
            headers: [("Authorization", "Bearer \(member.token)"), ("Content-Type", TestMultipart.contentType)],
            body: TestMultipart.body(image: TestImage.jpeg, title: "Me")
        )
        return try #require(answer.json["random_id"] as? String)
    }
}

extension HTTPAnswer {
    package var changes: [[String: Any]] { json["changes"] as? [[String: Any]] ?? [] }
    package var cursor: String { json["cursor"] as? String ?? "" }

    /// Such as `created houses h1`.
    package var summaries: [String] {
        changes.map { change in
            ["type", "collection", "id"].compactMap { change[$0] as? String }.joined(separator: " ")
        }
    }
}
