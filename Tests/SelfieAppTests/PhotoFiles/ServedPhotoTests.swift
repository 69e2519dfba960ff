import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Served photos", .timeLimit(.minutes(2)))
struct ServedPhotoTests {
    private static let policy = "sandbox"

    @Test("A photo comes with all that a client needs to keep, save and resume it", arguments: TestDelivery.direct)
    func headers(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let photo = try await service.uploadedPhoto(fileName: "Grüße.html")
            let answer = try await service.send("GET", photo.target)
            #expect(answer.status == 200)
            #expect(answer.body == TestImage.jpeg)
            #expect(answer.headers["content-type"] == "image/jpeg")
            #expect(answer.headers["content-length"] == String(TestImage.jpeg.count))
            #expect(answer.headers["etag"] == photo.tag)
            #expect(answer.headers["accept-ranges"] == "bytes")
            let modified = try #require(answer.headers["last-modified"])
            #expect(modified.wholeMatch(of: /\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/) != nil, "\(modified)")
            #expect(
                answer.headers["content-disposition"]
                    == "inline; filename=\"Gr__e.html.jpg\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.html.jpg"
            )
            #expect(answer.headers["x-content-type-options"] == "nosniff")
            #expect(answer.headers["content-security-policy"] == Self.policy)
            #expect(answer.headers["content-range"] == nil)
            let maxAge = answer.headers["cache-control"]?.firstMatch(of: /^private, max-age=(\d+)$/)?.1
            let expires = photo.target.firstMatch(of: /expires=(\d+)/)?.1
            let left = try #require(expires.flatMap { Double($0) }) - service.clock.now.timeIntervalSince1970
            #expect(try #require(maxAge.flatMap { Double($0) }) - left < 5)
            #expect(service.log.entries.allSatisfy { !$0.contains("html") })
        }
    }

    @Test("A client that has the photo gets 304 from the row alone", arguments: TestDelivery.allCases)
    func conditions(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let photo = try await service.uploadedPhoto()
            // By the database's clock.
            let rows = try await service.postgres.read("SELECT created_at FROM photos")
            let created = try #require(rows.first).decode("created_at", as: Date.self).timeIntervalSince1970
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = .gmt
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            func date(_ offset: TimeInterval) -> String {
                formatter.string(from: Date(timeIntervalSince1970: created + offset))
            }
            let table: [(headers: [(String, String)], status: Int)] = [
                ([("If-None-Match", photo.tag)], 304), ([("If-None-Match", "W/\(photo.tag)")], 304),
                ([("If-None-Match", "\"x\", \(photo.tag)")], 304), ([("If-None-Match", "*")], 304),
                ([("If-None-Match", "\"x\""), ("If-None-Match", photo.tag)], 304),
                ([("If-None-Match", "\"x\"")], delivery.status), ([("If-None-Match", "")], delivery.status),
                ([("If-None-Match", photo.randomID)], delivery.status),
                ([("If-Modified-Since", date(60))], 304), ([("If-Modified-Since", date(-600))], delivery.status),
                ([("If-Modified-Since", "yesterday")], delivery.status),
                ([("If-None-Match", "\"x\""), ("If-Modified-Since", date(60))], delivery.status),
                ([("If-Match", photo.tag)], delivery.status), ([("If-Match", "*")], delivery.status),
                ([("If-Match", "\"x\"")], 412), ([("If-Match", "W/\(photo.tag)")], 412),
                ([("If-Unmodified-Since", date(60))], delivery.status), ([("If-Unmodified-Since", date(-600))], 412),
                ([("If-None-Match", photo.tag), ("Range", "bytes=0-0")], 304),
            ]
            for method in ["GET", "HEAD"] {
                for (headers, status) in table {
                    let scenario = Scenario("\(headers)", "\(method) \(photo.target)", headers: headers, status: status)
                    let answer = try await service.check(scenario)
                    guard status == 304 else { continue }
                    #expect(answer.body.isEmpty)
                    #expect(answer.headers["etag"] == photo.tag)
                    #expect(answer.headers["cache-control"]?.hasPrefix("private, max-age=") == true)
                    #expect(answer.headers["content-disposition"] == nil)
                }
            }
            try await service.objects.remove(key: photo.randomID)
            let known = try await service.send("GET", photo.target, headers: [("If-None-Match", photo.tag)])
            #expect(known.status == 304)
        }
    }

    @Test("A deleted photo is 404 at once, whatever a client has cached", arguments: TestDelivery.allCases)
    func deleted(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let photo = try await service.uploadedPhoto()
            #expect(try await service.send("GET", photo.target).status == delivery.status)
            #expect(try await service.delete(photo.randomID, token: photo.token).status == 200)
            for headers in [[], [("If-None-Match", photo.tag)], [("If-Match", "\"x\"")], [("Range", "bytes=0-0")]] {
                for method in ["GET", "HEAD"] {
                    try await service.check(
                        Scenario(
                            "deleted",
                            "\(method) \(photo.target)",
                            headers: headers,
                            status: 404,
                            message: "There is no such photo"
                        )
                    )
                }
            }
        }
    }

    @Test("A photo that is not stored yet, or whose object is missing, is 404", arguments: TestDelivery.direct)
    func missing(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let photo = try await service.uploadedPhoto()
            try await service.postgres.write("UPDATE photos SET state = 'pending'")
            for method in ["GET", "HEAD"] {
                try await service.check(Scenario("pending", "\(method) \(photo.target)", status: 404))
            }
            #expect(!service.log.text.contains("a photo's object is missing"))
            try await service.postgres.write("UPDATE photos SET state = 'ready'")
            try await service.objects.remove(key: photo.randomID)
            for (method, headers) in [("GET", []), ("HEAD", []), ("GET", [("Range", "bytes=1-2")])] {
                try await service.check(
                    Scenario("gone", "\(method) \(photo.target)", headers: headers, status: 404)
                )
            }
            #expect(service.log.entries.count { $0.contains("error a photo's object is missing") } == 3)
        }
    }

    @Test("An object that is not as long as it was stored is not taken for the photo", arguments: TestDelivery.direct)
    func otherLength(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let photo = try await service.uploadedPhoto()
            for length in [TestImage.jpeg.count - 1, TestImage.jpeg.count + 1] {
                try await service.objects.write(TestImage.png(bytes: length), key: photo.randomID)
                for (method, headers) in [("GET", []), ("HEAD", []), ("GET", [("Range", "bytes=-2")])] {
                    try await service.check(
                        Scenario("\(length)", "\(method) \(photo.target)", headers: headers, status: 503)
                    )
                }
            }
        }
    }

    @Test("A photo of railsauth's, of which less is known, is served alike", arguments: TestDelivery.direct)
    func legacy(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            let photo = try await service.uploadedPhoto()
            let before = try await service.send("GET", photo.target)
            try await service.forgetDetails(of: photo)
            let head = try await service.send("HEAD", photo.target)
            #expect(head.headers["content-length"] == before.headers["content-length"])
            #expect(head.headers["content-type"] == "image/jpeg")
            // HEAD changes nothing. After GET, the row has the object's type.
            let known =
                "SELECT count(*) FROM photos WHERE content_type = 'image/jpeg' AND byte_count > 1000" as PostgresQuery
            #expect(try await service.count(known) == 0)
            let after = try await service.send("GET", photo.target)
            #expect(try await service.count(known) == 1)
            let listed = try await service.list(token: photo.token).jsonArray?.first
            #expect(listed?["content_type"] as? String == "image/jpeg")
            #expect(listed?["byte_count"] as? Int == TestImage.jpeg.count)
            #expect(after.status == 200)
            #expect(after.body == TestImage.jpeg)
            for name in ["content-type", "content-length", "etag", "last-modified", "content-disposition"] {
                #expect(after.headers[name] == before.headers[name], "\(name)")
            }
            let part = try await service.send("GET", photo.target, headers: [("Range", "bytes=-5")])
            #expect(part.status == 206)
            #expect(part.body == TestImage.jpeg.suffix(5))

            try await service.forgetDetails(of: photo)
            try await service.objects.write(Data("no photo".utf8), key: photo.randomID)
            var unknown = try await service.send("GET", photo.target)
            // A server that was asked for the object a moment ago may still know it as it was.
            try await poll("the other object") {
                try await service.forgetDetails(of: photo)
                unknown = try await service.send("GET", photo.target)
                return unknown.status == 200 && unknown.body.count == 8
            }
            #expect(unknown.text == "no photo")
            #expect(unknown.headers["content-type"] == "application/octet-stream")
            #expect(unknown.headers["content-disposition"] == "inline; filename=\"photo.bin\"")
            try await service.objects.write(Data(), key: photo.randomID)
            var empty = try await service.send("GET", photo.target)
            try await poll("the empty object") {
                try await service.forgetDetails(of: photo)
                empty = try await service.send("GET", photo.target)
                return empty.status == 200 && empty.body.isEmpty
            }
            #expect(empty.body.isEmpty)
            try await service.check(
                Scenario("empty", "GET \(photo.target)", headers: [("Range", "bytes=0-")], status: 416)
            )
        }
    }
}
