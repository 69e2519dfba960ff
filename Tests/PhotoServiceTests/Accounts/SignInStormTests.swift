import Foundation
import TestSupport
import Testing

@testable import PhotoService

@Suite("A storm of sign-ins", .serialized, .timeLimit(.minutes(5)))
struct SignInStormTests {
    private static let count = 5_000
    private static let connectingMax = 1_000
    private static let growthMax = 100

    @Test("Five thousand at once are each answered, in bounded memory, and the list goes on", arguments: ["on", "off"])
    func storm(rateLimits: String) async throws {
        OpenFileLimit.raise()
        try await ServedSelfie.run(settings: ["RATE_LIMITS": rateLimits]) { served in
            let service = served.service
            let token = try await service.makeToken()
            let body = "email=ada@example.com&password=\(try Self.encoded(TestService.encrypt("wrong password")))"
            let request = """
                POST /api/signin HTTP/1.1\r
                Host: localhost\r
                Authorization: \(TestService.basic)\r
                Content-Type: application/x-www-form-urlencoded\r
                Content-Length: \(body.utf8.count)\r
                Connection: close\r
                \r
                \(body)
                """
            var answers: [HTTPAnswer] = []
            let growth = try await ProcessMemory.growth(of: served.process) {
                answers = try await withThrowingTaskGroup(of: HTTPAnswer?.self) { signIns in
                    let (sent, send) = AsyncStream.makeStream(of: Void.self)
                    var arrivals = sent.makeAsyncIterator()
                    for number in 0..<Self.count {
                        // The kernel's queue of new connections is shorter than the storm.
                        if number >= Self.connectingMax { await arrivals.next() }
                        signIns.addTask {
                            try await RawConnection.open(port: service.port) { connection in
                                try await connection.send(request)
                                send.yield()
                                return try await connection.readResponse()
                            }
                        }
                    }
                    var answers: [HTTPAnswer] = []
                    while let answer = try await signIns.next() {
                        if let answer { answers.append(answer) }
                        if answers.count % 500 == 0 {
                            let start = ContinuousClock.now
                            #expect(try await service.list(token: token).status == 200)
                            #expect(ContinuousClock.now - start < .seconds(5))
                        }
                    }
                    return answers
                }
            }
            #expect(answers.count == Self.count)
            let statuses = Dictionary(grouping: answers, by: \.status)
            #expect(Set(statuses.keys).isSubset(of: [401, 429, 503]), "\(statuses.mapValues(\.count))")
            #expect(statuses[401] != nil)
            if rateLimits == "on" { #expect(statuses[401]?.count == 20) }
            for answer in statuses.filter({ $0.key != 401 }).flatMap(\.value) {
                #expect(answer.headers["retry-after"] != nil && answer.message != nil)
            }
            #expect(growth <= Self.growthMax)
            #expect(try await service.signIn(email: "ada@example.com").status == (rateLimits == "on" ? 429 : 200))
        }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
