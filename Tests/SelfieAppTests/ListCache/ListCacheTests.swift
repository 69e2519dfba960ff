import Budgets
import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfieWeb

@Suite("The cache of lists", .timeLimit(.minutes(2)))
struct ListCacheTests {
    private func titles(_ service: TestService, token: String = "ada-token") async throws -> [String] {
        try #require(try await service.list(token: token).jsonArray).map { $0["title"] as? String ?? "" }
    }

    @Test("They are sent again without a look at the photos, and never after a change of any kind")
    func fresh() async throws {
        try await TestService.run { service in
            try await service.addSession()
            try await service.addRows(3)
            let first = try await service.list(token: "ada-token")
            // No client may read them now.
            try await service.postgres.write("ALTER TABLE photos RENAME TO hidden")
            #expect(try await service.list(token: "ada-token").body == first.body)
            #expect(try await service.list(token: "ada-token").headers["etag"] == first.headers["etag"])
            try await service.postgres.write("ALTER TABLE hidden RENAME TO photos")
            var tags: Set = [first.headers["etag"]]
            for (statement, expected) in [
                ("DELETE FROM photos WHERE title = '2'", ["1", "3"]),
                ("UPDATE photos SET title = '4' WHERE title = '3'", ["1", "4"]),
                ("UPDATE photos SET state = 'pending' WHERE title = '1'", ["4"]),
                ("UPDATE photos SET state = 'ready' WHERE title = '1'", ["1", "4"]),
                (
                    "INSERT INTO photos (user_id, name, title, random_id, state) SELECT id, '', '5', '5', 'ready' FROM users",
                    ["1", "4", "5"]
                ),
                ("DELETE FROM photos", []),
            ] {
                try await service.postgres.withConnection { try await $0.execute(script: statement) }
                let answer = try await service.list(token: "ada-token")
                #expect(answer.jsonArray?.map { $0["title"] as? String } == expected, "\(statement)")
                #expect(tags.insert(answer.headers["etag"]).inserted)
            }
        }
    }

    @Test("Each user, origin and day has lists of its own")
    func apart() async throws {
        try await TestService.run { service in
            for name in ["ada", "bob"] {
                try await service.addSession(name: name)
                try await service.addRows(2, name: name)
            }
            func list(_ name: String, host: String) async throws -> String {
                let headers = [("Authorization", tokenHeader("\(name)-token")), ("Host", host)]
                return try await service.send("GET", "/api/get_photos", headers: headers).text
            }
            for _ in 0..<2 {
                for (name, other) in [("ada", "bob"), ("bob", "ada")] {
                    for host in ["a.example", "b.example"] {
                        let text = try await list(name, host: host)
                        #expect(text.contains("http://\(host)/photos/\(name)") && !text.contains("/photos/\(other)"))
                    }
                }
            }
            let today = try await list("ada", host: "a.example")
            service.clock.advance(by: 13 * 3600)
            #expect(try await list("ada", host: "a.example") != today)
        }
    }

    @Test(
        "A list of many photos is whole, in their order, the first time and again, and however little memory there is"
    )
    func long() async throws {
        // None, enough for the first pieces only, for all but the last, and for all.
        for bytes in [0, 64 << 10, 200 << 10, 700 << 10, 32 << 20] {
            let adjust: @Sendable (inout SelfieService) -> Void = { service in
                service.permits.cachedLists = Permits.ofBytes(bytes)
            }
            try await TestService.run(adjust: adjust) { service in
                try await service.addSession()
                try await service.addRows(1_234, text: "\"\\\u{1}ü" + String(repeating: "x", count: 200))
                var bodies: [Data] = []
                for _ in 0..<3 {
                    let answer = try await service.list(token: "ada-token")
                    let list = try #require(answer.jsonArray)
                    #expect(
                        list.map { ($0["title"] as? String)?.prefix { $0.isNumber } } == (1...1_234).map { "\($0)" }
                    )
                    #expect((answer.headers["content-length"] != nil) == (bytes > 1 << 20))
                    bodies.append(answer.body)
                }
                #expect(Set(bodies).count == 1)
                let newest = try await service.send(
                    "GET",
                    "/api/get_photos?order=newest",
                    headers: [("Authorization", tokenHeader("ada-token"))]
                )
                #expect(newest.jsonArray?.count == 1_234)
            }
        }
    }

    @Test("As many photos as a user may have by default are cached, and so are those that replace them")
    func longest() async throws {
        try await TestService.run { service in
            try await service.addSession()
            try await service.addRows(10_000, text: " A title as people give them")
            try await service.postgres.write(
                """
                UPDATE photos SET random_id = left(md5(id::text) || md5(id::text), 48), name = 'IMG_20261123_143000.jpg',
                    content_type = 'image/jpeg', byte_count = 3456789, width = 4032, height = 3024
                """
            )
            for title in ["x", "y"] {
                try await service.postgres.write("UPDATE photos SET title = title || \(title)")
                let answer = try await service.list(token: "ada-token")
                #expect(answer.headers["content-length"] != nil, "\(answer.body.count)")
            }
        }
    }

    @Test("Their size is limited, unused lists are evicted, and one user does not evict others' lists")
    func bounded() async throws {
        // A list of 400 photos has about 170 kB in three pieces, so two users have room.
        let budget = Permits.ofBytes(400 << 10, perUser: 300 << 10)
        try await TestService.run(adjust: { $0.permits.cachedLists = budget }) { service in
            for name in ["ada", "bob", "cy", "di"] {
                try await service.addSession(name: name)
                try await service.addRows(400, name: name)
            }
            for name in ["ada", "bob", "ada", "cy", "ada", "di", "ada"] {
                #expect(try await titles(service, token: "\(name)-token").count == 400)
                #expect((1...(400 << 10)).contains(budget.inUse))
            }
            let full = budget.inUse
            // A new version takes the place of the old one.
            for _ in 0..<5 {
                try await service.postgres.write("UPDATE photos SET title = title || 'x' WHERE random_id LIKE 'ada%'")
                #expect(try await titles(service).count == 400)
                #expect(budget.inUse <= 400 << 10)
            }
            #expect(full > 0)
        }
    }

    @Test("A new list evicts lists of others, and the user's own old list")
    func evicted() async throws {
        // A list of 400 photos has about 170 kB in three pieces: room for one, since as much stays free.
        let budget = Permits.ofBytes(400 << 10, perUser: 300 << 10)
        try await TestService.run(adjust: { $0.permits.cachedLists = budget }) { service in
            for name in ["ada", "bob", "cy"] {
                try await service.addSession(name: name)
                try await service.addRows(400, name: name)
            }
            for name in ["ada", "bob", "cy", "ada", "ada"] {
                try await service.postgres.write("UPDATE photos SET title = title || '.' WHERE random_id LIKE 'ada%'")
                #expect(try await titles(service, token: "\(name)-token").count == 400)
                try await service.postgres.write("ALTER TABLE photos RENAME TO hidden")
                #expect(try await titles(service, token: "\(name)-token").count == 400)
                try await service.postgres.write("ALTER TABLE hidden RENAME TO photos")
                #expect(budget.inUse <= 400 << 10)
            }
        }
    }

    @Test("A list of the gallery is evicted for one of the API, and the other way round")
    func galleryAndAPI() async throws {
        // Room for one list, as above.
        let budget = Permits.ofBytes(400 << 10, perUser: 300 << 10)
        try await TestService.run(adjust: { $0.permits.cachedLists = budget }) { service in
            let token = try await service.makeToken(email: "ada@example.com")
            try await service.addRows(400, name: "ada")
            try await service.addSession(name: "bob")
            try await service.addRows(400, name: "bob")
            let isCached = { (answer: HTTPAnswer) in
                #expect(answer.jsonArray?.count == 400, "\(answer.text.prefix(200))")
                return answer.headers["content-length"] != nil
            }
            let cookie = ("Cookie", "selfie=\(token)")
            for _ in 0..<2 {
                #expect(isCached(try await service.send("GET", "/gallery/photos", headers: [cookie])))
                #expect(isCached(try await service.list(token: "bob-token")))
            }
        }
    }

    @Test("Very short lists count with what they take beside their JSON")
    func overhead() async throws {
        let budget = Permits.ofBytes(1 << 20)
        try await TestService.run(adjust: { $0.permits.cachedLists = budget }) { service in
            for name in ["ada", "bob"] {
                try await service.addSession(name: name)
                try await service.addRows(1, name: name)
                _ = try await titles(service, token: "\(name)-token")
            }
            #expect((2 * 1_024 + 2...4 * 1_024).contains(budget.inUse), "\(budget.inUse)")
        }
    }

    @Test("A list too long for the memory is made for a few clients at once, and others are told to retry")
    func streams() async throws {
        let adjust: @Sendable (inout SelfieService) -> Void = { service in
            service.permits.cachedLists = Permits.ofBytes(0)
            service.permits.listStreams = Permits("LISTS_STREAMED", per: "USER", PermitLimits(total: 2, perHolder: 1))
        }
        try await TestService.run(adjust: adjust) { service in
            for name in ["ada", "bob", "cy"] {
                try await service.addSession(name: name)
                // Far more than the buffers of a connection hold.
                try await service.addRows(8_000, name: name, text: String(repeating: "\u{1}", count: 250))
            }
            try await Self.withBegunList("ada", service) {
                try await Self.withBegunList("bob", service) {
                    for name in ["ada", "bob"] {
                        let answer = try await service.list(token: "\(name)-token")
                        #expect(answer.status == 429 && answer.headers["retry-after"] == "2")
                    }
                    #expect(try await service.list(token: "cy-token").status == 503)
                    // One that is short needs no permit.
                    try await service.addSession(name: "di")
                    try await service.addRows(20, name: "di")
                    #expect(try await titles(service, token: "di-token").count == 20)
                    // A longer one does.
                    try await service.addSession(name: "ed")
                    try await service.addRows(60, name: "ed")
                    #expect(try await service.list(token: "ed-token").status == 503)
                }
            }
            try await poll("the permits are free again") { try await service.list(token: "cy-token").status == 200 }
        }
    }

    /// Runs a body while a client has read the beginning of a user's list, and no more.
    private static func withBegunList(
        _ name: String,
        _ service: TestService,
        _ body: @Sendable () async throws -> Void
    ) async throws {
        try await RawConnection.open(port: service.port) { connection in
            try await connection.send(
                "GET /api/get_photos HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(name)-token\r\n\r\n"
            )
            var connection = connection
            let begin = try await connection.readSome()
            #expect(begin.starts(with: Data("HTTP/1.1 200 ".utf8)))
            try await body()
        }
    }

    @Test("Photos that go while a long list is read are left out, and the list is not cached")
    func deletedMeanwhile() async throws {
        try await TestService.run(adjust: { $0.permits.cachedLists = Permits.ofBytes(0) }) { service in
            try await service.addSession()
            try await service.addRows(9_000, text: "x" + String(repeating: "\u{1}", count: 249))
            let body = try await RawConnection.open(port: service.port) { connection in
                try await connection.send(
                    "GET /api/get_photos HTTP/1.1\r\nHost: a\r\nAuthorization: Token ada-token\r\nConnection: close\r\n\r\n"
                )
                var connection = connection
                var begin = Data()
                while begin.count < 10_000 { begin += try await connection.readSome() }
                try await service.postgres.write("DELETE FROM photos WHERE title LIKE '8999%' OR title LIKE '1x%'")
                try await service.addRows(1, name: "ada", text: "new")
                return begin + (try await connection.readToEnd())
            }
            let text = String(decoding: body, as: UTF8.self)
            #expect(text.contains("\"title\":\"1x") && text.contains("\"title\":\"9000x"))
            #expect(!text.contains("\"title\":\"8999x") && !text.contains("\"title\":\"1new"))
            #expect(text.hasSuffix("]\r\n0\r\n\r\n"))
        }
    }
}
