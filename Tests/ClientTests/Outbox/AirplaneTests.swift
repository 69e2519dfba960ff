import ClientTestSupport
import ConnectionTestSupport
import Foundation
import SelfieClient
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's outbox without a network")
struct AirplaneTests {
    @Test(
        "200 items arrive in order when the service is there again, without a call by the app",
        .timeLimit(.minutes(2))
    )
    func airplane() async throws {
        try await Self.run { service, relay, ada, folder in
            relay.turnOff()
            let selfie = try TestClient(service, folder: folder, port: relay.port, as: ada).selfie
            for number in 0..<100 {
                try await selfie.outbox.upload(.data(TestImage.png(bytes: 500)), title: "\(number)")
                try await selfie.outbox.create(House(address: "\(number)"), id: "h\(number)")
            }
            #expect(await selfie.outbox.items.count == 200)
            try await poll("a try that failed") {
                await selfie.outbox.items.contains {
                    $0.state == .waiting(lastError: .interrupted) || $0.state == .waiting(lastError: .offline)
                }
            }
            // Long enough for each kind of item to fail several times.
            try await poll("many tries that failed") { relay.refusedCount >= 12 }
            relay.turnOn()
            try await selfie.outbox.waitUntilSent()
            #expect(try await selfie.photos.list().map(\.title) == (0..<100).map { "\($0)" })
            let houses = try await selfie.records(House.self).all().collect()
            #expect(houses.map(\.fields.address) == (0..<100).map { "\($0)" })
            #expect(houses.allSatisfy { $0.version == 1 })
        }
    }

    @Test("Nine arrive at once beside one that is refused, which stays with its reason", .timeLimit(.minutes(1)))
    func poisoned() async throws {
        try await Self.run { service, relay, ada, folder in
            relay.turnOff()
            let selfie = try TestClient(service, folder: folder, port: relay.port, as: ada).selfie
            for number in 0..<10 {
                let photo = number == 3 ? Data("no photo".utf8) : TestImage.png(bytes: 500)
                try await selfie.outbox.upload(.data(photo), title: "\(number)")
            }
            relay.turnOn()
            try await selfie.outbox.waitUntilSent()
            #expect(try await selfie.photos.list().map(\.title) == [0, 1, 2, 4, 5, 6, 7, 8, 9].map { "\($0)" })
            let items = await selfie.outbox.items
            #expect(items.map(\.content) == [.upload(title: "3")])
            guard case .refused(.notAPhoto) = items.first?.state else {
                Issue.record("\(items)")
                return
            }
            try await selfie.outbox.drop(items[0].id)
            #expect(await selfie.outbox.items.isEmpty)
        }
    }

    /// Runs a body with a service behind a relay, and a member.
    private static func run(
        _ body: @Sendable (TestService, ConnectionRelay, TestMember, URL) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let relay = try await ConnectionRelay.start(target: service.port)
            try await TemporaryFolder.with { try await body(service, relay, ada, $0) }
            try await relay.close()
        }
    }
}
