import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Photo URLs")
struct PhotoURLTests {
    private static let invalid = "The photo's address is invalid or has expired"

    @Test("A signature that was tampered with in any way is refused", .timeLimit(.minutes(1)))
    func tampering() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let upload = try await service.upload(token: token)
            let target = try service.target(of: try #require(upload.json["image_url"] as? String))
            let match = try #require(target.wholeMatch(of: /\/photos\/([^?]+)\?expires=(\d+)&signature=([\w-]{43})/))
            let (id, expires, signature) = (String(match.1), String(match.2), String(match.3))
            let other = try await service.upload(token: token)
            let otherID = try #require(other.json["random_id"] as? String)
            let later = String(try #require(Int(expires)) + 1)
            var targets = [
                "/photos/\(id)", "/photos/\(id)?expires=\(expires)", "/photos/\(id)?signature=\(signature)",
                "/photos/\(id)?expires=\(expires)&signature=", "/photos/\(id)?expires=&signature=\(signature)",
                "/photos/\(id)?expires=\(later)&signature=\(signature)",
                "/photos/\(otherID)?\(target.drop { $0 != "?" })",
                "/photos/\(otherID)?expires=\(expires)&signature=\(signature)",
                "/photos/\(id)x?expires=\(expires)&signature=\(signature)",
                "/photos/\(id)?expires=\(expires)x&signature=\(signature)",
                "/photos/\(id)?expires=+\(expires)&signature=\(signature)",
                "/photos/\(id)?expires=0\(expires)&signature=\(signature)",
                "/photos/\(id)?expires=-1&signature=\(signature)",
                "/photos/\(id)?expires=99999999999999999999&signature=\(signature)",
                "/photos/\(id)?expires=\(expires)&signature=\(signature)=",
                "/photos/\(id)?expires=\(expires)&signature=\(signature)A",
                "/photos/\(id)?expires=\(expires)&signature=\(signature)&signature=x",
                "/photos/\(id)?expires=\(expires)&signature=\(signature)&expires=\(later)",
                "/photos/unknown?expires=\(expires)&signature=\(signature)",
            ]
            for count in 0..<43 {
                targets.append("/photos/\(id)?expires=\(expires)&signature=\(signature.prefix(count))")
            }
            for index in 0..<43 {
                for letter in ["A", "B", "w", "_", "/", "%41"] {
                    var letters = signature.map(String.init)
                    guard letters[index] != letter, !(letter == "%41" && letters[index] == "A") else { continue }
                    letters[index] = letter
                    targets.append("/photos/\(id)?expires=\(expires)&signature=\(letters.joined())")
                }
            }
            // The last of 43 letters has two bits that base64 leaves unused.
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            for last in alphabet where last != signature.last {
                targets.append("/photos/\(id)?expires=\(expires)&signature=\(signature.dropLast())\(last)")
            }
            for target in targets {
                let answer = try await service.send("GET", target)
                #expect(answer.status == 403, "\(target)")
                #expect(answer.message == Self.invalid, "\(target)")
            }
            let whole = try await service.send("GET", target, headers: [("Authorization", "Token token=unknown")])
            let isSame = whole.body == TestImage.jpeg
            #expect(isSame)
        }
    }

    @Test("Another secret's signature is refused")
    func otherSecret() async throws {
        try await TestCluster.withDatabase { databaseURL in
            var targets: [String] = []
            for secret in ["a", "b"] {
                let settings = ["SECRET_KEY_BASE": String(repeating: secret, count: 32)]
                let known = targets
                targets = try await TestService.run(databaseURL: databaseURL, settings: settings) { service in
                    let token = try await service.makeToken(email: "\(secret)@example.com")
                    for target in known { #expect(try await service.send("GET", target).status == 403) }
                    let upload = try await service.upload(token: token)
                    return [try service.target(of: try #require(upload.json["image_url"] as? String))]
                }
            }
        }
    }

    private static let day: TimeInterval = 86_400

    @Test(
        "A URL stays the same for a day, and works for as long as a token, but for two days at most",
        arguments: [1, 24, 60]
    )
    func lifetime(hours: Int) async throws {
        try await TestService.run(settings: ["TOKEN_LIFETIME_HOURS": String(hours)]) { service in
            func set(to seconds: TimeInterval) {
                service.clock.advance(by: seconds - service.clock.now.timeIntervalSince1970)
            }
            let token = try await service.makeToken()
            let upload = try await service.upload(token: token)
            let randomID = try #require(upload.json["random_id"] as? String)
            let today = (service.clock.now.timeIntervalSince1970 / Self.day).rounded(.down) * Self.day
            func url() async throws -> String {
                let token = try await service.newToken()
                let list = try await service.list(token: token).jsonArray
                return try #require(list?.first?["image_url"] as? String)
            }
            set(to: today + Self.day + 1)
            let first = try await url()
            set(to: today + 2 * Self.day - 60)
            let last = try await url()
            let lastToken = try await service.newToken()
            #expect(first == last)
            #expect(first.contains("/photos/\(randomID)?"))
            set(to: today + 2 * Self.day - 90 + Double(hours) * 3600)
            #expect(try await service.list(token: lastToken).status == 200)
            let expires = try #require(last.firstMatch(of: /expires=(\d+)/)?.1)
            #expect(Double(expires) == today + 3 * Self.day)
            set(to: today + 2 * Self.day - 90 + Double(min(hours, 24)) * 3600)
            let left = try #require(Double(expires)) - service.clock.now.timeIntervalSince1970
            let served = try await service.send("GET", last)
            #expect(served.status == 200)
            let control = served.headers["cache-control"]
            let maxAge = try #require(control?.firstMatch(of: /^private, max-age=(\d+)$/).flatMap { Double($0.1) })
            #expect(maxAge <= left)
            set(to: today + 2 * Self.day + 1)
            #expect(try await url() != first)
            set(to: try #require(Double(expires)))
            let ended = try await service.send("GET", last)
            #expect(ended.status == 403)
            #expect(ended.message == Self.invalid)
        }
    }

    private static let origins: [(headers: [(String, String)], origin: String)] = [
        ([("Host", "selfies.example.com")], "http://selfies.example.com"),
        ([("Host", "localhost:3000")], "http://localhost:3000"),
        ([("Host", "[::1]:80")], "http://[::1]:80"),
        ([("Host", "a.example"), ("X-Forwarded-Proto", "https")], "https://a.example"),
        ([("Host", "a.example"), ("X-Forwarded-Proto", "HTTPS, http")], "https://a.example"),
        ([("Host", "a.example"), ("X-Forwarded-Proto", "http")], "http://a.example"),
        ([("Host", "a.example"), ("X-Forwarded-Proto", "javascript")], "http://a.example"),
        ([("Host", "a.example/x?y#"), ("X-Forwarded-Proto", "https")], "https://localhost"),
        ([("Host", "user:pw@a.example")], "http://localhost"),
    ]

    @Test("A URL begins with the request's own origin, or PUBLIC_URL")
    func origin() async throws {
        for publicURL in [nil, "https://photos.example.com", "https://photos.example.com/"] {
            let settings = publicURL.map { ["PUBLIC_URL": $0] } ?? [:]
            try await TestService.run(settings: settings) { service in
                let token = try await service.makeToken()
                _ = try await service.upload(token: token)
                for (headers, origin) in Self.origins {
                    let lines = headers.map { "\($0): \($1)\r\n" }.joined()
                    let answer = try await RawConnection.open(port: service.port) { connection in
                        try await connection.send(
                            "GET /api/get_photos HTTP/1.1\r\n\(lines)Authorization: Token \(token)\r\n\r\n"
                        )
                        return try await connection.readResponse()
                    }
                    let url = try #require(answer?.jsonArray?.first?["image_url"] as? String)
                    let expected = publicURL == nil ? origin : "https://photos.example.com"
                    #expect(url.hasPrefix("\(expected)/photos/"), "\(headers): \(url)")
                }
            }
        }
    }
}
