import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Pages of a list")
struct PhotoPageTests {
    private func get(_ target: String, _ service: TestService) async throws -> HTTPAnswer {
        try await service.send("GET", target, headers: [("Authorization", tokenHeader("ada-token"))])
    }

    /// The titles of a page, which are numbers.
    private func numbers(_ answer: HTTPAnswer) throws -> [Int] {
        try #require(answer.jsonArray, "\(answer.text)").map { try #require(Int($0["title"] as? String ?? "")) }
    }

    private func next(_ answer: HTTPAnswer) throws -> String? {
        guard let link = answer.headers["link"] else { return nil }
        return String(try #require(link.wholeMatch(of: /<http:\/\/127\.0\.0\.1:\d+(\/[^>]*)>; rel="next"/)).1)
    }

    @Test("They follow each other by their links, in both orders, until all were seen once")
    func pages() async throws {
        try await TestService.run { service in
            try await service.addSession()
            try await service.addSession(name: "bob")
            try await service.addRows(10)
            try await service.addRows(10, name: "bob")
            for order in ["", "order=oldest&", "order=newest&"] {
                for limit in [1, 3, 10, 11, 500] {
                    let seen = try await seen("\(order)limit=\(limit)", limit: limit, service)
                    let all = order.contains("newest") ? Array((1...10).reversed()) : Array(1...10)
                    #expect(seen == all, "\(order)limit=\(limit)")
                }
            }
        }
    }

    /// What the pages of a list of ten have.
    private func seen(_ query: String, limit: Int, _ service: TestService) async throws -> [Int] {
        var seen: [Int] = []
        var target: String? = "/api/get_photos?\(query)"
        while let page = target {
            let answer = try await get(page, service)
            #expect(answer.status == 200)
            let numbers = try numbers(answer)
            #expect(numbers.count == min(limit, 10 - seen.count), "\(query)")
            seen += numbers
            target = try next(answer)
            #expect((target == nil) == (seen.count == 10), "\(query)")
            if seen.count > 10 { break }
        }
        return seen
    }

    @Test("Without a limit the list is complete, after a photo or from the newest")
    func noLimit() async throws {
        try await TestService.run { service in
            try await service.addSession()
            try await service.addRows(5)
            let ids = try #require(try await service.list(token: "ada-token").jsonArray).map {
                $0["random_id"] as? String ?? ""
            }
            for (query, expected) in [
                ("after=\(ids[1])", [3, 4, 5]), ("after=\(ids[4])", []), ("order=newest", [5, 4, 3, 2, 1]),
                ("order=newest&after=\(ids[1])", [1]), ("order=newest&after=\(ids[0])&limit=3", []),
                ("limit=2&after=\(ids[2])", [4, 5]),
            ] {
                let answer = try await get("/api/get_photos?\(query)", service)
                #expect(try numbers(answer) == expected, "\(query)")
                #expect(answer.headers["link"] == nil)
            }
            // As for other calls, a body may say it, too.
            let form = try await service.sendForm(
                "GET",
                "/api/get_photos",
                authorization: tokenHeader("ada-token"),
                [("limit", "1"), ("order", "newest")]
            )
            #expect(try numbers(form) == [5])
            #expect(try next(form)?.hasSuffix("after=\(ids[4])&limit=1&order=newest") == true)
        }
    }

    @Test("What does not make sense is refused, another's photo and a pending one among it")
    func refused() async throws {
        try await TestService.run { service in
            try await service.addSession()
            try await service.addSession(name: "bob")
            try await service.addRows(2)
            try await service.addRows(2, name: "bob")
            let bobs = try #require(
                try await service.list(token: "bob-token").jsonArray?.first?["random_id"] as? String
            )
            let own = try #require(try await service.list(token: "ada-token").jsonArray?.first?["random_id"] as? String)
            try await service.postgres.write("UPDATE photos SET state = 'pending' WHERE random_id = \(own)")
            let valid = [
                "limit": "a whole number from 1 to 500", "order": "oldest or newest",
                "after": "the random_id of a photo in the list",
            ]
            for (query, name) in [
                ("limit=0", "limit"), ("limit=501", "limit"), ("limit=-1", "limit"), ("limit=x", "limit"),
                ("limit=", "limit"), ("limit=1.5", "limit"), ("limit=99999999999999999999", "limit"),
                ("order=down", "order"), ("order=", "order"), ("after=\(bobs)", "after"), ("after=\(own)", "after"),
                ("after=", "after"), ("after=unknown", "after"), ("after=a%00b", "after"),
            ] {
                try await service.check(
                    Scenario(
                        query,
                        "GET /api/get_photos?\(query)",
                        authorization: tokenHeader("ada-token"),
                        status: 400,
                        message: "\(name) - is invalid (\(valid[name] ?? "")),"
                    )
                )
            }
        }
    }

    @Test("Each page has a tag of its own, which lasts until the photos change")
    func tags() async throws {
        try await TestService.run { service in
            try await service.addSession()
            try await service.addRows(4)
            let first = try #require(
                try await service.list(token: "ada-token").jsonArray?.first?["random_id"] as? String
            )
            let targets = [
                "", "limit=2", "limit=3", "limit=2&order=newest", "limit=2&after=\(first)", "after=\(first)",
            ]
            .map { "/api/get_photos?\($0)" }
            func tags() async throws -> [String] {
                var tags: [String] = []
                for target in targets { tags.append(try #require(try await get(target, service).headers["etag"])) }
                return tags
            }
            let before = try await tags()
            #expect(Set(before).count == targets.count)
            #expect(try await tags() == before)
            for (target, tag) in zip(targets, before) {
                let headers = [("Authorization", tokenHeader("ada-token")), ("If-None-Match", tag)]
                let answer = try await service.send("GET", target, headers: headers)
                #expect(answer.status == 304 && answer.body.isEmpty && answer.headers["etag"] == tag)
            }
            try await service.postgres.write("UPDATE photos SET title = '7' WHERE title = '4'")
            #expect(Set(try await tags()).isDisjoint(with: before))
        }
    }
}
