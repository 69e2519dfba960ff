import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieAccounts

@Suite("The directory", .timeLimit(.minutes(3)))
struct DirectoryTests {
    private static func page(
        _ service: TestService,
        _ token: String,
        _ items: [(String, String)] = []
    ) async throws -> (ids: [String], names: [String], next: String?) {
        let query = items.map { "\($0)=\($1.formEncoded)" }.joined(separator: "&")
        let answer = try await service.call("GET", "/api/members?\(query)", token: token)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.headers["cache-control"] == "private, no-cache")
        let members = try #require(answer.json["members"] as? [[String: Any]])
        return (
            members.compactMap { $0["id"] as? String },
            members.map { "\($0["first_name"] ?? "") \($0["last_name"] ?? "")" }, answer.json["next"] as? String
        )
    }

    /// All pages, one after the other.
    private static func all(
        _ service: TestService,
        _ token: String,
        query: String?,
        limit: Int
    ) async throws -> [String] {
        var (found, next): ([String], String?) = ([], nil)
        repeat {
            let items = [("query", query), ("after", next), ("limit", "\(limit)")]
            let page = try await page(service, token, items.compactMap { name, value in value.map { (name, $0) } })
            #expect(page.ids.count == limit || page.next == nil)
            found += page.ids
            next = page.next
        } while next != nil && found.count < 1_000
        return found
    }

    @Test("Without its setting it is not there", arguments: [[:], ["DIRECTORY": ""]])
    func closed(settings: [String: String]) async throws {
        try await TestService.run(settings: ["DIRECTORY": ""].merging(settings) { $1 }) { service in
            let token = try await service.addSession()
            for target in ["/api/members", "/api/members?query=a"] {
                let answer = try await service.call("GET", target, token: token)
                #expect(answer.status == 404 && answer.json["code"] as? String == "endpoint_not_found")
            }
            let document = try await service.send("GET", "/openapi.json")
            #expect(
                !document.text.contains(#""/api/members":"#) && document.text.contains("/api/me")
            )
        }
    }

    @Test("It is found by the beginning of a full name, a last name or a title, in any case of letters")
    func found() async throws {
        try await TestService.run { service in
            let token = try await service.addSession(name: "ada")
            try await service.addMember("Grace", "Hopper", title: "Rear Admiral")
            try await service.addMember("Émile", "Borel", title: "Élan vital")
            try await service.addMember("Mary Ann", "Evans")
            try await service.addMember("100%", "_under\\score", title: "50% off")
            let names = { (query: String) in try await Self.page(service, token, [("query", query)]).names }
            for (query, expected) in [
                ("gra", ["Grace Hopper"]), ("GRACE hop", ["Grace Hopper"]), ("Hopp", ["Grace Hopper"]),
                ("rear a", ["Grace Hopper"]), ("admiral", []), ("race", []), ("émile", ["Émile Borel"]),
                ("ÉLAN", ["Émile Borel"]), ("Mary Ann E", ["Mary Ann Evans"]), ("ann", []), ("Grace  Hopper", []),
                (" grace ", ["Grace Hopper"]), ("%", []), ("_", ["100% _under\\score"]),
                ("100%", ["100% _under\\score"]),
                ("50%", ["100% _under\\score"]), ("_under\\", ["100% _under\\score"]), ("\\", []), ("'", []),
                ("lov", ["Ada Lovelace"]), (String(repeating: "x", count: 255), []),
            ] {
                let found = try await names(query)
                #expect(found == expected, "\(query)")
            }
            let everybody = ["100% _under\\score", "Ada Lovelace", "Grace Hopper", "Mary Ann Evans", "Émile Borel"]
            #expect(try await Self.page(service, token).names == everybody)
            #expect(try await names("  ") == everybody)
        }
    }

    @Test("Members are in the order of the smallest match, each once")
    func order() async throws {
        try await TestService.run { service in
            let token = try await service.addSession(name: "zoe")
            try await service.postgres.write("UPDATE users SET first_name = 'Zoe', last_name = 'Zoe'")
            try await service.addMember("Maria", "Abel", title: "Abbess")
            try await service.addMember("Aaron", "Abel", title: "Aardvark")
            try await service.addMember("Abel", "Abel", title: "abel abel")
            try await service.addMember("Tom", "Aachen")
            #expect(
                try await Self.page(service, token, [("query", "a")]).names == [
                    "Tom Aachen", "Aaron Abel", "Maria Abel", "Abel Abel",
                ]
            )
            #expect(
                try await Self.page(service, token, [("query", "abel")]).names == [
                    "Maria Abel", "Aaron Abel", "Abel Abel",
                ]
            )
        }
    }

    @Test("Any limit shows everyone once, ties and several finds included")
    func pages() async throws {
        try await TestService.run { service in
            let token = try await service.addSession(name: "ada")
            try await service.postgres.write(
                """
                INSERT INTO users (first_name, last_name, title, email, password_hash)
                SELECT (ARRAY['Ann', 'ann', 'Bob', 'An'])[1 + number % 4], (ARRAY['Anders', 'Bo', 'N', 'ANN', 'Z'])[1 + number % 5],
                    (ARRAY['', 'Analyst', 'boss'])[1 + number % 3], number || '@example.com', 'none'
                FROM generate_series(1, 230) AS number
                """
            )
            for query in [nil, "an", "a", "b", "ann", "ann an", "z", "nobody"] {
                let matches = try await service.count(
                    """
                    SELECT count(*) FROM users WHERE starts_with(lower(first_name || ' ' || last_name), \(query ?? ""))
                        OR starts_with(lower(last_name), \(query ?? "")) OR starts_with(lower(title), \(query ?? ""))
                    """
                )
                let whole = try await Self.all(service, token, query: query, limit: 100)
                #expect(whole.count == matches && Set(whole).count == matches, "\(query ?? "all")")
                for limit in [1, 2, 7, 99] where limit > 1 || query == "an" {
                    let found = try await Self.all(service, token, query: query, limit: limit)
                    #expect(found == whole, "\(query ?? "all"), \(limit)")
                }
            }
            let usual = try await Self.page(service, token)
            #expect(usual.ids.count == 50)
        }
    }

    @Test("A limit is 1 to 100, and a position is a member that the query finds")
    func refused() async throws {
        try await TestService.run { service in
            let token = try await service.addSession(name: "ada")
            let grace = try await service.addMember("Grace", "Hopper")
            let long = String(repeating: "x", count: 256)
            for (query, code) in [
                ("limit=0", "limit_invalid"), ("limit=101", "limit_invalid"), ("limit=x", "limit_invalid"),
                ("after=x", "after_invalid"), ("after=\(String(repeating: "0", count: 32))", "after_invalid"),
                ("after=", "after_invalid"), ("after=%00", "after_invalid"),
                ("query=ada&after=\(grace)", "after_invalid"),
                ("query=\(long)", "query_too_long"), ("query=a%00", "query_invalid"), ("query=a%0Ab", "query_invalid"),
                ("query=%ff", "parameters_malformed"),
            ] {
                let answer = try await service.call("GET", "/api/members?\(query)", token: token)
                #expect(answer.status == 400 && answer.json["code"] as? String == code, "\(query): \(answer.text)")
            }
            #expect(try await Self.page(service, token, [("limit", "1")]).next != nil)
            #expect(try await Self.page(service, token, [("limit", "100")]).next == nil)
            // A member who was disabled meanwhile is still a valid position.
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE member_id = \(grace)")
            #expect(try await Self.page(service, token, [("after", grace)]).ids.isEmpty)
            for id in ["1", "x", String(repeating: "0", count: 32), "%00", grace, grace.uppercased()] {
                let answer = try await service.call("GET", "/api/members/\(id)", token: token)
                #expect(answer.status == 404 && answer.json["code"] as? String == "member_not_found", "\(id)")
            }
        }
    }

    @Test("Among 10,000 members no statement reads the table from end to end")
    func plans() async throws {
        try await TestService.run { service in
            try await service.addSession(name: "ada")
            try await service.postgres.write(
                """
                INSERT INTO users (first_name, last_name, title, email, password_hash)
                SELECT left(md5(number::text), 8), left(md5((number / 3)::text), 8), left(md5((number % 100)::text), 6),
                    number || '@example.com', 'none' FROM generate_series(1, 10000) AS number
                """
            )
            try await service.postgres.write("ANALYZE users")
            let position = MemberStore.Position(value: "a5", id: 5_000)
            for beginning in [nil, "a", "ab", "nobody"] {
                let selection = DirectorySelection(beginning: beginning, after: nil, limit: 50)
                for after in [nil, position] {
                    let query = MemberStore.pageQuery(selection, after: after)
                    try await service.postgres.withConnection { connection in
                        let custom = try await connection.query("EXPLAIN \(part: query)")
                        try await Self.expectIndexes(custom, "\(beginning ?? "all")")
                        // The plan for any values, which the server may make after five executions.
                        try await connection.execute(
                            script: "SET plan_cache_mode = force_generic_plan; PREPARE page AS \(query.sql)"
                        )
                        let values = Array(repeating: "NULL", count: query.parameters.count).joined(separator: ", ")
                        let arguments = query.parameters.isEmpty ? "" : "(\(values))"
                        let generic = try await connection.query(
                            PostgresQuery(stringLiteral: "EXPLAIN EXECUTE page\(arguments)")
                        )
                        try await Self.expectIndexes(generic, "\(beginning ?? "all"), generic")
                        try await connection.execute(script: "DEALLOCATE page; RESET plan_cache_mode")
                    }
                }
            }
        }
    }

    private static func expectIndexes(_ plan: PostgresRows, _ comment: String) async throws {
        let lines = try plan.map { try $0.decode("QUERY PLAN", as: String.self) }.joined(separator: "\n")
        #expect(!lines.contains("Seq Scan on users") && lines.contains("users_full_name_index"), "\(comment)\n\(lines)")
    }
}
