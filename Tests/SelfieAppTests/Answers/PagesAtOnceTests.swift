import Budgets
import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import SelfieWeb
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

@Suite("Pages that one session asks for at once", .timeLimit(.minutes(2)))
struct PagesAtOnceTests {
    @Test("Six full pages fit one session, the seventh is refused, and the user's other session has as much")
    func sixPages() async throws {
        let budget = WebPermits().answers
        try await TestService.runWithSchema(adjust: { service in
            service.permits.answers = budget
            service.limits.writeTimeout = .hours(1)
        }) { service in
            let ada = try await service.addMember("ada")
            let text = String(repeating: "x", count: 60_000)
            let news = (0..<20).map { #"{"id":"n\#($0)","data":{"title":"t","text":"\#(text)"}}"# }.joined(
                separator: ","
            )
            let made = try await service.call("POST", "/api/records/news", as: ada, "[\(news)]")
            #expect(made.status == 200, "\(made.text.prefix(500))")
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT user_id, sha256('second-token-of-ada'), expires_at FROM sessions
                """
            )
            try await poll("the answer is sent") { budget.inUse == 0 }
            let target = "/api/records/news?limit=50"
            let readers = try SlowReaders(6, port: service.port) { _ in
                "GET \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(ada.token)\r\n\r\n"
            }
            try await poll("the pages have begun") { readers.texts.allSatisfy { $0.utf8.count >= 4_096 } }
            #expect(readers.texts.allSatisfy { $0.hasPrefix("HTTP/1.1 200 ") })
            #expect(budget.inUse == 12_582_912)
            let refused = try await service.call("GET", target, as: ada)
            #expect(refused.status == 429 && refused.code == "too_many_at_once", "\(refused.text)")
            let other = try await service.send("GET", target, headers: [("Authorization", "Token second-token-of-ada")])
            #expect(other.status == 200 && other.body.count > 1_000_000)
            await readers.close()
            try await poll("the memory is free again") { budget.inUse == 0 }
        }
    }
}
