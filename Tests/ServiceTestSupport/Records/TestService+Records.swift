package import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import RecordSchema
package import SelfieApp
package import SelfieRecords
import ServerProcesses
import TestSupport
package import Testing

/// A user of a test, with a session.
package struct TestMember: Sendable {
    package let name: String
    package let token: String
    package let userID: Int
    /// The id that others see.
    package let id: String

    /// - Parameters:
    ///   - name: What a test calls the member.
    ///   - token: The session's token.
    ///   - userID: The row of the user; 0 where a test does not need it.
    ///   - id: The id that others see.
    package init(name: String, token: String, userID: Int = 0, id: String) {
        self.name = name
        self.token = token
        self.userID = userID
        self.id = id
    }
}

extension TestService {
    /// Runs a body with a service whose database has the documentation's schema, or another one.
    package static func runWithSchema<Result: Sendable>(
        _ schema: String? = nil,
        store: TestStore = .disk,
        settings: [String: String] = ["RATE_LIMITS": "off"],
        sendsMails: Bool = true,
        adjust: @Sendable (inout SelfieService) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Result
    ) async throws -> Result {
        try await run(store: store, settings: settings, sendsMails: sendsMails, adjust: adjust) { service in
            try await service.apply(try schema ?? exampleSchema)
            return try await body(service)
        }
    }

    /// Runs a body with two services on one database and one store.
    package static func runTwoWithSchema<Result: Sendable>(
        _ schema: String? = nil,
        settings: [String: String] = ["RATE_LIMITS": "off"],
        adjust: @Sendable (inout SelfieService) -> Void = { _ in },
        _ body: @Sendable (_ first: TestService, _ second: TestService) async throws -> Result
    ) async throws -> Result {
        try await runWithSchema(schema, settings: settings, adjust: adjust) { first in
            let settings = settings.merging(first.objects.settings) { $1 }
            return try await run(databaseURL: first.databaseURL, settings: settings, adjust: adjust) { second in
                try await body(first, second)
            }
        }
    }

    package static var exampleSchema: String {
        get throws {
            try String(contentsOf: ProjectFolder.root.appending(path: "docs/examples/schema.json"), encoding: .utf8)
        }
    }

    /// Applies a schema file.
    @discardableResult
    package func apply(_ text: String) async throws -> ApplySchema.Report {
        let schema = try Schema(file: Array(text.utf8))
        let apply = ApplySchema(postgres: postgres)
        let report = try await apply(schema, as: try await apply.preview(schema).plan, mayShowMore: true)
        return try #require(report)
    }

    /// Makes a user with a session, behind the service's back.
    package func addMember(_ name: String, role: String? = nil) async throws -> TestMember {
        let token = try await addSession(name: name)
        let row = try #require(
            try await postgres.read(
                "SELECT id::bigint AS id, member_id FROM users WHERE email = \("\(name)@example.com")"
            ).first
        )
        let userID: Int = try row.decode("id")
        if let role { try await add(userID, to: role) }
        return TestMember(name: name, token: token, userID: userID, id: try row.decode("member_id"))
    }

    /// Gives a user a role, behind the service's back.
    package func add(_ userID: Int, to role: String) async throws {
        try await postgres.write(
            "INSERT INTO role_members (role_id, user_id) SELECT id, \(userID) FROM roles WHERE name = \(role)"
        )
    }

    /// Sends a call with a JSON body.
    package func call(
        _ method: String,
        _ target: String,
        as member: TestMember,
        _ body: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        let type = body == nil ? [] : [("Content-Type", "application/json")]
        let answer = try await send(
            method,
            target,
            headers: headers + type + [("Authorization", "Bearer \(member.token)")],
            body: body.map { Data($0.utf8) }
        )
        if answer.status >= 500 { Issue.record("\(log.entries.suffix(2))") }
        return answer
    }

    /// Uploads a photo that is in no list.
    ///
    /// - Returns: Its id and its signed URL.
    package func uploadUnlisted(as member: TestMember) async throws -> (id: String, url: String) {
        let answer = try await send(
            "POST",
            "/api/upload_photo?listed=false",
            headers: [("Authorization", "Bearer \(member.token)"), ("Content-Type", TestMultipart.contentType)],
            body: TestMultipart.body(image: TestImage.jpeg, title: "House")
        )
        #expect(answer.status == 200, "\(answer.text)")
        let id = try #require(answer.json["random_id"] as? String)
        return (id, try #require(answer.json["image_url"] as? String))
    }

    /// The ids of a list's records, from all of its pages.
    package func ids(_ collection: String, as member: TestMember, query: String = "") async throws -> [String] {
        var ids: [String] = []
        var after = ""
        while true {
            let answer = try await call("GET", "/api/records/\(collection)?limit=7\(query)\(after)", as: member)
            #expect(answer.status == 200, "\(answer.text)")
            ids += answer.records.compactMap { $0["id"] as? String }
            guard let next = answer.json["next"] as? String else { return ids }
            #expect(after != "&after=\(next)", "the same page comes again")
            after = "&after=\(next)"
        }
    }

    /// Expects that counters are right, and that nothing deleted has rows left.
    package func expectSoundStreams(_ comment: Comment? = nil) async throws {
        let broken = try await count(
            """
            SELECT count(*) FROM streams WHERE seq < coalesce((SELECT max(seq) FROM grants WHERE stream_id = streams.id), 0)
            """
        )
        #expect(broken == 0, comment)
        let wrongCounts = try await count(
            """
            SELECT count(*) FROM streams WHERE user_id IS NOT NULL AND (
                record_count <> (SELECT count(*) FROM records WHERE owner_id = user_id)
                OR byte_count <> (
                    SELECT coalesce(sum(coalesce(sent_byte_count, byte_count)), 0) FROM records WHERE owner_id = user_id
                ) + (
                    SELECT coalesce(sum(byte_count - sent_byte_count), 0) FROM records
                    WHERE recipient_id = user_id AND deleted_at IS NULL
                )
                OR inbox_count <> (SELECT count(*) FROM records WHERE recipient_id = user_id AND deleted_at IS NULL)
            )
            """
        )
        #expect(wrongCounts == 0, comment)
        let wrongAuthors = try await count(
            """
            SELECT count(*) FROM stream_authors FULL JOIN (
                SELECT stream_id, owner_id AS author_id, count(*) AS shown,
                    count(*) FILTER (WHERE recipient_id > 0) AS waiting
                FROM grants JOIN records ON key = record_key AND records.collection_id = grants.collection_id
                    JOIN streams ON streams.id = stream_id
                WHERE rights % 2 = 1 AND user_id <> owner_id GROUP BY stream_id, owner_id
            ) AS read USING (stream_id, author_id)
            WHERE coalesce(record_count, 0) <> coalesce(shown, 0) OR coalesce(inbox_count, 0) <> coalesce(waiting, 0)
            """
        )
        #expect(wrongAuthors == 0, comment)
        let strayRows = try await count(
            """
            SELECT (SELECT count(*) FROM record_index WHERE NOT EXISTS (
                    SELECT FROM grants WHERE grants.stream_id = record_index.stream_id
                        AND grants.collection_id = record_index.collection_id
                        AND grants.record_key = record_index.record_key AND rights % 2 = 1))
                + (SELECT count(*) FROM record_references AS r WHERE NOT EXISTS (
                    SELECT FROM records WHERE key IN (r.record_key) AND deleted_at IS NULL))
                + (SELECT count(*) FROM grants WHERE collection_id > 0 AND rights > 0 AND NOT EXISTS (
                    SELECT FROM records WHERE key = record_key AND deleted_at IS NULL)) AS count
            """
        )
        #expect(strayRows == 0, comment)
    }
}

extension HTTPAnswer {
    /// The records of a page.
    package var records: [[String: Any]] { json["records"] as? [[String: Any]] ?? [] }

    /// The member `data` of a record.
    package var data: [String: Any] { json["data"] as? [String: Any] ?? [:] }

    /// Whether it has what all refusals have, and beside that nothing but what its code allows.
    package var hasRefusalsMembers: Bool {
        let members = Set(json.keys)
        let more: Set<String> =
            switch code {
            case "parameters_missing": ["parameters", "hint"]
            case "parameters_malformed", "too_many_parameters", "name_unfit": ["hint"]
            default: []
            }
        return members.isSuperset(of: ["status", "message", "code"])
            && members.subtracting(["status", "message", "code"]).isSubset(of: more)
    }

    package var code: String? { json["code"] as? String }
}
