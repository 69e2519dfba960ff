import Foundation
import Testing

@testable import SelfieClient

@Suite("Calls that fail")
struct RetryTests {
    private static func run(
        _ method: String,
        _ answer: @escaping @Sendable (_ number: Int) throws -> TransportResponse
    ) async throws -> (tries: Int, error: SelfieError?) {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, number in try answer(number) }
            let selfie = try Selfie.scripted(transport, folder: folder)
            var error: SelfieError?
            do {
                try await selfie.api.send(Call(method, selfie.api.url(["me"])))
            } catch let thrown as SelfieError {
                error = thrown
            }
            return (transport.all.count, error)
        }
    }

    @Test("are tried again after an interruption, if they can be repeated", arguments: ["GET", "PUT", "DELETE"])
    func repeatable(method: String) async throws {
        let (tries, error) = try await Self.run(method) { number in
            if number < 3 { throw TransportError.interrupted }
            return .json("{}")
        }
        #expect(tries == 3 && error == nil)
    }

    @Test("are not tried again if they might be done twice", arguments: ["POST", "PATCH"])
    func notRepeatable(method: String) async throws {
        let (tries, error) = try await Self.run(method) { _ in throw TransportError.interrupted }
        #expect(tries == 1 && error == .interrupted)
    }

    @Test("end after three tries")
    func end() async throws {
        let (tries, error) = try await Self.run("GET") { _ in .refusal(500, "internal_error") }
        #expect(tries == 3 && error == .unavailable(retryAfter: nil))
    }

    @Test("wait as long as the service says, since it did nothing", .timeLimit(.minutes(1)))
    func retryAfter() async throws {
        let start = ContinuousClock.now
        let (tries, error) = try await Self.run("POST") { number in
            number == 1 ? .refusal(429, "too_many_at_once", headers: ["Retry-After": "1"]) : .json("{}")
        }
        #expect(tries == 2 && error == nil)
        #expect(ContinuousClock.now - start >= .seconds(1))
    }

    @Test("are not tried again after an answer that may come behind the work", arguments: [500, 502, 503, 504])
    func failedBehindTheWork(status: Int) async throws {
        let headers = ["Retry-After": "0"]
        for answer in [
            TransportResponse.json(#"{"message":"Internal server error"}"#, status: status, headers: headers),
            .json("<html>Bad Gateway</html>", status: status, headers: headers),
            .refusal(status, "service_unavailable", headers: headers),
        ] {
            let (tries, error) = try await Self.run("POST") { _ in answer }
            #expect(tries == 1 && error == .unavailable(retryAfter: .zero))
            let (puts, none) = try await Self.run("PUT") { number in number == 1 ? answer : .json("{}") }
            #expect(puts == 2 && none == nil)
        }
    }

    @Test("wait as long as a proxy says, if they can be repeated")
    func proxyPause() async throws {
        let (tries, error) = try await Self.run("GET") { _ in
            .json("<html></html>", status: 503, headers: ["Retry-After": "600"])
        }
        #expect(tries == 1 && error == .unavailable(retryAfter: .seconds(600)))
    }

    @Test("do not wait for longer than a user would")
    func impatient() async throws {
        let (tries, error) = try await Self.run("GET") { _ in
            .refusal(429, "too_many_requests", headers: ["Retry-After": "600"])
        }
        #expect(tries == 1 && error == .tooManyRequests(retryAfter: .seconds(600)))
        #expect(error?.localizedDescription == "That was too often. Try again in 10 minutes.")
    }

    @Test("without a network fail at once, and say so")
    func offline() async throws {
        let (tries, error) = try await Self.run("GET") { _ in throw TransportError.notConnected }
        #expect(tries == 1 && error == .offline)
        #expect(error?.localizedDescription == "There is no connection. Try again when you are online.")
    }

    @Test("with an answer of somebody else's are named, and hold nothing of it", arguments: [200, 302, 404, 511])
    func portal(status: Int) async throws {
        try await TestFolder.with { folder in
            let html = "<html>secret</html>"
            let transport = ScriptedTransport { _, _ in .json(html, status: status) }
            let selfie = try Selfie.scripted(transport, folder: folder)
            await #expect(throws: SelfieError.unexpectedAnswer(status: status)) { try await selfie.profile() }
            #expect(try selfie.userID == "ada")
        }
    }

    @Test("with a cancelled task are cancelled, also between two tries")
    func cancelled() async throws {
        try await TestFolder.with { folder in
            let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
            let transport = ScriptedTransport { _, _ in
                continuation.yield()
                return .refusal(503, "service_unavailable", headers: ["Retry-After": "9"])
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            let task = Task { try await selfie.profile() }
            for await _ in asked { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    /// How the first try of a change ends.
    enum FirstTry: String, CaseIterable {
        case conflict, rateLimit, interruption, proxyError, codelessError, internalError, unavailable

        /// Whether the service may have made the change.
        var mayBeMade: Bool { self != .conflict && self != .rateLimit }

        func answer() throws -> TransportResponse {
            let headers = ["Retry-After": "0"]
            return switch self {
            case .conflict: .refusal(412, "record_version_differs")
            case .rateLimit: .refusal(429, "too_many_requests", headers: headers)
            case .interruption: throw TransportError.interrupted
            case .proxyError: .json("<html></html>", status: 502, headers: headers)
            case .codelessError: .json(#"{"message":"Timeout"}"#, status: 504, headers: headers)
            case .internalError: .refusal(500, "internal_error")
            case .unavailable: .refusal(503, "service_unavailable", headers: headers)
            }
        }
    }

    @Test(
        "An equal change of the same version is one's own only after a try that may have made it",
        arguments: FirstTry.allCases
    )
    func equalChange(first: FirstTry) async throws {
        struct House: RecordFields {
            static let collection = "houses"
            var points = 1
        }
        try await TestFolder.with { folder in
            let record = #"""
                {"id":"h","collection":"houses","data":{"points":1},"owner":"ada","version":2,
                 "created_at":"2026-11-28T10:00:00.000Z","updated_at":"2026-11-28T10:00:01.000Z"}
                """#
            let transport = ScriptedTransport { request, number in
                if request.method == "GET" { return .json(record) }
                return number == 1 ? try first.answer() : .refusal(412, "record_version_differs")
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            let write = RecordWrite(
                path: ["records", "houses", "h"],
                kind: .put,
                condition: .version(1),
                body: try RecordBody(data: House()).json
            )
            do {
                let response = try await write.send(selfie.api, nil)
                #expect(first.mayBeMade && response?.status == 200)
            } catch SelfieError.versionDiffers {
                #expect(!first.mayBeMade && transport.all.allSatisfy { $0.method == "PUT" })
            }
        }
    }
}
