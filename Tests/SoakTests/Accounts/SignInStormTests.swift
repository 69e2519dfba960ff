import ConnectionTestSupport
import Foundation
import ProcessTestSupport
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("A storm of sign-ins", .serialized, .timeLimit(.minutes(10)))
struct SignInStormTests {
    /// A storm: how many, for how many accounts, with limits or without.
    struct Storm: Sendable, CustomTestStringConvertible {
        let count: Int
        let accountCount: Int
        let rateLimits: String

        var testDescription: String { "\(count) for \(accountCount) accounts, limits \(rateLimits)" }
    }

    private static let storms = [
        Storm(count: 5_000, accountCount: 1, rateLimits: "on"),
        Storm(count: 5_000, accountCount: 1, rateLimits: "off"),
        Storm(count: 10_000, accountCount: 1_000, rateLimits: "on"),
    ]
    private static let maxConnecting = 1_000
    private static let maxOpen = 3_000
    private static let maxGrowth = 100

    @Test("Each of them is answered, in bounded memory, and lists are served throughout", arguments: storms)
    func storm(_ storm: Storm) async throws {
        OpenFileLimit.raise()
        let settings = ["RATE_LIMITS": storm.rateLimits, "TRUSTED_PROXIES": "1"]
        try await ServedSelfie.run(settings: settings) { served in
            let service = served.service
            let token = try await service.makeToken(email: "user0@example.com")
            let password = try TestService.encrypt("wrong password").formEncoded
            var answers: [HTTPAnswer] = []
            var lists: [Duration] = []
            let growth = try await ProcessMemory.growth(of: served.process.processID) {
                let listing = Task { try await Self.listUntilCancelled(service, token: token) }
                defer { listing.cancel() }
                answers = try await withThrowingTaskGroup(of: HTTPAnswer?.self) { signIns in
                    let (sent, send) = AsyncStream.makeStream(of: Void.self)
                    var arrivals = sent.makeAsyncIterator()
                    var answers: [HTTPAnswer] = []
                    for number in 0..<storm.count {
                        // The kernel's queue of new connections is shorter than a storm.
                        if number >= Self.maxConnecting { await arrivals.next() }
                        if number >= Self.maxOpen, let answer = try await signIns.next() ?? nil {
                            answers.append(answer)
                        }
                        let request = Self.request(number, of: storm, password: password)
                        signIns.addTask {
                            try await RawConnection.open(port: service.port) { connection in
                                try await connection.send(request)
                                send.yield()
                                return try await connection.readResponse()
                            }
                        }
                    }
                    while let answer = try await signIns.next() {
                        if let answer { answers.append(answer) }
                    }
                    return answers
                }
                listing.cancel()
                lists = try await listing.value
            }
            let statuses = Dictionary(grouping: answers, by: \.status)
            #expect(lists.count >= 10)
            #expect(try #require(lists.max()) < .seconds(8))
            #expect(answers.count == storm.count)
            #expect(Set(statuses.keys).isSubset(of: [401, 429, 503]), "\(statuses.mapValues(\.count))")
            #expect(statuses[401] != nil)
            let isLimited = storm.rateLimits == "on" && storm.accountCount == 1
            if isLimited { #expect(try #require(statuses[401]?.count) <= 20) }
            for answer in statuses.filter({ $0.key != 401 }).flatMap(\.value) {
                #expect(answer.headers["retry-after"] != nil && answer.message != nil)
            }
            #expect(growth <= Self.maxGrowth)
            let right = try await service.signIn(
                email: "user0@example.com",
                headers: [("X-Forwarded-For", "192.0.2.1")]
            )
            #expect(right.status == (isLimited ? 429 : 200))
        }
    }

    /// Asks for the list again and again.
    ///
    /// - Returns: How long each took.
    /// - Throws: What the connection throws.
    private static func listUntilCancelled(_ service: TestService, token: String) async throws -> [Duration] {
        var times: [Duration] = []
        while !Task.isCancelled {
            let start = ContinuousClock.now
            let status: Int
            do {
                status = try await service.list(token: token).status
            } catch  where Task.isCancelled {
                break
            }
            #expect(status == 200)
            times.append(ContinuousClock.now - start)
        }
        return times
    }

    private static func request(_ number: Int, of storm: Storm, password: String) -> String {
        let body = "email=user\(number % storm.accountCount)@example.com&password=\(password)"
        return """
            POST /api/signin HTTP/1.1\r
            Host: localhost\r
            Authorization: \(TestService.basic)\r
            X-Forwarded-For: 203.0.\(number / 200 % 200).\(number % 200)\r
            Content-Type: application/x-www-form-urlencoded\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """
    }
}
