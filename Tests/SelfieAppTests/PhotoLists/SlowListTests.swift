import Budgets
import ConnectionTestSupport
import NIOCore
import Postgres
import SelfieWeb
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

@Suite("Lists that clients read slowly", .timeLimit(.minutes(2)))
struct SlowListTests {
    @Test(
        "A list counts until its last byte is sent, also when a newer one has replaced it",
        arguments: [120, 220],
        [false, true]
    )
    func replaced(photoCount: Int, wasSentBefore: Bool) async throws {
        // One piece that has begun, or two pieces of which the second is on its way.
        let quickBytes = photoCount == 120 ? 4_096 : 66_000
        let budget = Permits.ofBytes(48 << 20, perUser: 12 << 20)
        try await TestService.run(adjust: { service in
            service.permits.cachedLists = budget
            service.limits.maxUnsentBytes = 4_096
            service.limits.writeTimeout = .hours(1)
        }) { service in
            let token = try await service.addSession()
            try await service.addRows(photoCount)
            if wasSentBefore { #expect(try await service.list(token: token).jsonArray?.count == photoCount) }
            let readers = try SlowReaders(1, port: service.port, quickBytes: quickBytes) { _ in
                "GET /api/get_photos HTTP/1.1\r\nHost: 127.0.0.1:\(service.port)\r\nAuthorization: Token \(token)\r\n\r\n"
            }
            try await poll("the list has begun") { readers.texts[0].utf8.count >= quickBytes }
            #expect(readers.texts[0].hasPrefix("HTTP/1.1 200 "))
            let one = budget.inUse
            #expect((32_768...262_144).contains(one), "\(one)")
            try await service.postgres.write("UPDATE photos SET title = title || 'x'")
            #expect(try await service.list(token: token).jsonArray?.count == photoCount)
            #expect(budget.inUse > one * 3 / 2, "\(budget.inUse) of \(one)")
            await readers.close()
            try await poll("the old list is gone") { budget.inUse < one * 3 / 2 }
        }
    }
}
