import ConnectionTestSupport
import Foundation
import Postgres
import SelfieCore
import ServiceTestSupport
import Testing

@Suite("Roles", .timeLimit(.minutes(3)))
struct RoleTests {
    @Test("A manager of a role sees and changes its members; its members do not; for others it is 404")
    func members() async throws {
        try await TestService.runWithSchema { service in
            let lead = try await service.addMember("lead", role: "leads")
            let (ada, eve) = (try await service.addMember("ada"), try await service.addMember("eve"))
            let path = "/api/roles/team/members"
            for member in [ada, eve] {
                #expect(try await service.call("GET", path, as: member).code == "role_not_found")
                #expect(try await service.call("PUT", "\(path)/\(ada.id)", as: member).status == 404)
            }
            for _ in 0..<2 {
                #expect(try await service.call("PUT", "\(path)/\(ada.id)", as: lead).status == 200)
            }
            #expect(
                try await service.call("PUT", "/api/records/priorities/p", as: ada, #"{"data":{"name":"P"}}"#).status
                    == 200
            )
            let list = try await service.call("GET", path, as: lead)
            #expect((list.json["members"] as? [[String: Any]])?.map { $0["id"] as? String } == [ada.id], "\(list.text)")
            #expect(list.headers["cache-control"] == "private, no-cache")
            for member in ["", "/\(ada.id)"] {
                #expect(try await service.call("GET", path + member, as: ada).code == "role_forbidden")
            }
            #expect(try await service.call("PUT", "\(path)/\(eve.id)", as: ada).code == "role_forbidden")
            #expect(try await service.call("DELETE", "\(path)/\(ada.id)", as: ada).status == 403)
            #expect(try await service.call("GET", "\(path)/\(ada.id)", as: lead).json["id"] as? String == ada.id)
            #expect(try await service.call("GET", "\(path)/\(eve.id)", as: lead).code == "member_not_found")
            #expect(try await service.call("PUT", "\(path)/nobody", as: lead).code == "member_not_found")
            #expect(
                try await service.call("PUT", "/api/roles/nothing/members/\(ada.id)", as: lead).code == "role_not_found"
            )
            #expect(try await service.call("DELETE", "\(path)/\(ada.id)", as: lead).status == 200)
            #expect(try await service.call("DELETE", "\(path)/\(ada.id)", as: lead).code == "member_not_found")
            #expect(try await service.call("GET", "/api/records/priorities", as: ada).status == 404)
            // A disabled member gets no role, and a role can be removed from one.
            #expect(try await service.call("PUT", "\(path)/\(ada.id)", as: lead).status == 200)
            try await service.postgres.write(
                "UPDATE users SET disabled_at = now() WHERE member_id = ANY(\([ada.id, eve.id]))"
            )
            #expect(try await service.call("PUT", "\(path)/\(eve.id)", as: lead).code == "member_not_found")
            #expect(try await service.call("DELETE", "\(path)/\(ada.id)", as: lead).status == 200)
            // A role that is switched off manages nothing.
            try await service.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'leads'")
            #expect(try await service.call("PUT", "\(path)/\(ada.id)", as: lead).status == 404)
            let events = try await service.count(
                "SELECT count(*) FROM audit_events WHERE event IN ('role_added', 'role_removed') AND address IS NOT NULL"
            )
            #expect(events == 4)
            let named = try await service.count(
                """
                SELECT count(*) FROM audit_events
                WHERE event IN ('role_added', 'role_removed') AND role = 'team' AND actor_id = \(lead.userID)
                """
            )
            #expect(named == 4)
        }
    }

    /// How a manager loses the right, and the refusal.
    enum Loss: String, CaseIterable, Sendable {
        case role, roleButMember, account, schema

        fileprivate func happen(_ lead: TestMember, on connection: PostgresConnection) async throws {
            switch self {
            case .role:
                try await connection.execute("DELETE FROM role_members WHERE user_id = \(lead.userID)")
            case .roleButMember:
                try await connection.execute(
                    """
                    UPDATE role_members SET role_id = (SELECT id FROM roles WHERE name = 'team')
                    WHERE user_id = \(lead.userID)
                    """
                )
            case .account:
                try await connection.execute("UPDATE users SET disabled_at = now() WHERE id = \(lead.userID)")
            case .schema:
                try await connection.execute(
                    """
                    INSERT INTO schema_definitions (version, definition)
                    SELECT version + 1, definition FROM schema_definitions ORDER BY version DESC LIMIT 1
                    """
                )
            }
        }

        fileprivate var status: Int {
            switch self {
            case .role: 404
            case .roleButMember: 403
            case .account: 401
            case .schema: 503
            }
        }
    }

    @Test("A user who loses the right to manage a role while the call waits changes nothing", arguments: Loss.allCases)
    func race(loss: Loss) async throws {
        for method in ["PUT", "DELETE"] {
            try await TestService.runWithSchema { service in
                let lead = try await service.addMember("lead", role: "leads")
                let ada = try await service.addMember("ada", role: method == "DELETE" ? "team" : nil)
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    try await service.postgres.withTransaction { connection in
                        // Each of them is what the call waits for.
                        try await connection.execute("SELECT FROM roles WHERE name = 'leads' FOR UPDATE")
                        try await connection.execute("SELECT FROM users WHERE id = \(lead.userID) FOR UPDATE")
                        tasks.addTask {
                            let answer = try await service.send(
                                method,
                                "/api/roles/team/members/\(ada.id)",
                                headers: [("Authorization", "Bearer \(lead.token)")]
                            )
                            #expect(answer.status == loss.status, "\(method) \(answer.text)")
                        }
                        try await service.waitForLocks(1)
                        try await loss.happen(lead, on: connection)
                    }
                    try await tasks.waitForAll()
                }
                let events = try await service.count(
                    "SELECT count(*) FROM audit_events WHERE event IN ('role_added', 'role_removed')"
                )
                #expect(events == 0)
                let having = try await service.count(
                    "SELECT count(*) FROM role_members WHERE user_id = \(ada.userID)"
                )
                #expect(having == (method == "DELETE" ? 1 : 0))
            }
        }
    }

    @Test(
        "A manager removed by a parallel call of another manager changes nothing",
        arguments: ["PUT", "DELETE"]
    )
    func removedInBetween(method: String) async throws {
        try await TestService.runWithSchema { service in
            let first = try await service.addMember("first", role: "leads")
            let second = try await service.addMember("second", role: "leads")
            let ada = try await service.addMember("ada", role: method == "DELETE" ? "team" : nil)
            @Sendable func call(_ method: String, _ path: String, as member: TestMember) async throws -> HTTPAnswer {
                try await service.send(
                    method,
                    "/api/roles/\(path)",
                    headers: [("Authorization", "Bearer \(member.token)")]
                )
            }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                try await service.postgres.withTransaction { connection in
                    // Both calls have found their managers in the role, and wait for it in this order.
                    try await connection.execute("SELECT FROM roles WHERE name = 'leads' FOR UPDATE")
                    tasks.addTask {
                        let removal = try await call("DELETE", "leads/members/\(second.id)", as: first)
                        #expect(removal.status == 200, "\(removal.text)")
                    }
                    try await service.waitForLocks(1)
                    tasks.addTask {
                        let refused = try await call(method, "team/members/\(ada.id)", as: second)
                        #expect(refused.status == 404 && refused.code == "role_not_found", "\(refused.text)")
                    }
                    try await service.waitForLocks(2)
                }
                try await tasks.waitForAll()
            }
            let having = try await service.count("SELECT count(*) FROM role_members WHERE user_id = \(ada.userID)")
            #expect(having == (method == "DELETE" ? 1 : 0))
            let events = try await service.count(
                "SELECT count(*) FROM audit_events WHERE event IN ('role_added', 'role_removed')"
            )
            #expect(events == 1)
        }
    }

    @Test("When a manager's account is deleted, no event keeps the manager's address")
    func forgottenManager() async throws {
        try await TestService.runWithSchema { service in
            let lead = try await service.addMember("lead", role: "leads")
            let ada = try await service.addMember("ada")
            #expect(try await service.call("PUT", "/api/roles/team/members/\(ada.id)", as: lead).status == 200)
            let kept = "SELECT count(*) FROM audit_events WHERE event = 'role_added' AND address IS NOT NULL"
            #expect(try await service.count("\(part: PostgresQuery(stringLiteral: kept))") == 1)
            let removeAccount = RemoveAccount(postgres: service.postgres)
            #expect(try await removeAccount(userID: lead.userID, passwordHash: nil, sessionID: nil))
            #expect(try await service.count("\(part: PostgresQuery(stringLiteral: kept))") == 0)
        }
    }

    @Test("Pages of members have everybody once, and a role has 10,000 members at most")
    func limits() async throws {
        try await TestService.runWithSchema { service in
            let lead = try await service.addMember("lead", role: "leads")
            let last = try await service.addMember("last")
            try await service.postgres.write(
                """
                WITH added AS (
                    INSERT INTO users (first_name, last_name, email, password_hash)
                    SELECT 'A', 'B', 'u' || n || '@example.com', 'none'
                    FROM generate_series(1, 9999) AS n RETURNING id
                )
                INSERT INTO role_members (role_id, user_id) SELECT roles.id, added.id FROM roles, added WHERE name = 'team'
                """
            )
            let path = "/api/roles/team/members"
            let first = try await service.call("GET", "\(path)?limit=100", as: lead)
            let next = try #require(first.json["next"] as? String)
            let second = try await service.call("GET", "\(path)?limit=100&after=\(next)", as: lead)
            func ids(_ answer: HTTPAnswer) -> Set<String> {
                Set((answer.json["members"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String })
            }
            #expect(ids(first).count == 100 && ids(second).count == 100 && ids(first).isDisjoint(with: ids(second)))
            #expect(try await service.call("PUT", "\(path)/\(last.id)", as: lead).status == 200)
            let full = try await service.call("PUT", "\(path)/\(lead.id)", as: lead)
            #expect(full.status == 403 && full.code == "role_full")
        }
    }
}
