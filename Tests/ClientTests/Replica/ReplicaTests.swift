import ClientTestSupport
import ConnectionTestSupport
import Foundation
import SelfieClient
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's replicas")
struct ReplicaTests {
    @Test("A result follows what another client does", .timeLimit(.minutes(1)))
    func results() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (
                try await service.addMember("ada", role: "team"), try await service.addMember("bob", role: "team")
            )
            try await TemporaryFolder.with { folder in
                let writer = try TestClient(service, folder: folder.appending(path: "bob"), as: bob).selfie
                let reader = try TestClient(service, folder: folder.appending(path: "ada"), as: ada).selfie
                let bugs: Records<BugReport> = writer.records()
                try await bugs.create(BugReport(title: "old", points: 1), id: "b1")
                let replica = try await reader.replica(of: [BugReport.self])
                try await replica.waitUntilCurrent()
                var results = replica.results(
                    BugReport.self,
                    where: [.range("points", from: 1, below: 10)],
                    order: .descending("points")
                ).makeAsyncIterator()
                #expect(await results.next()?.map(\.id) == ["b1"])
                try await bugs.create(BugReport(title: "new", points: 5), id: "b2")
                #expect(await results.next()?.map(\.id) == ["b2", "b1"])
                try await bugs.modify("b2") { $0.points = 10 }
                #expect(await results.next()?.map(\.id) == ["b1"])
                try await bugs.delete("b1")
                #expect(await results.next()?.isEmpty == true)
            }
        }
    }

    @Test("An app that starts without a network has what it had", .timeLimit(.minutes(1)))
    func offline() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let relay = try await ConnectionRelay.start(target: service.port)
            try await TemporaryFolder.with { folder in
                let first = try TestClient(service, folder: folder, port: relay.port, as: ada).selfie
                let houses: Records<House> = first.records()
                try await houses.create(House(address: "stays"), id: "h1")
                let replica = try await first.replica(of: [House.self])
                try await replica.waitUntilCurrent()
                let photo = try await first.photos.upload(.data(TestImage.jpeg), title: "Me")
                _ = try await first.photos.data(of: photo.link)
                await replica.close()
                relay.turnOff()

                let second = try TestClient(service, folder: folder, port: relay.port, as: ada).selfie
                let copy = try await second.replica(of: [House.self])
                #expect(await copy.records(House.self).map(\.id) == ["h1"])
                #expect(await copy.record("h1", House.self)?.fields.address == "stays")
                #expect(try await second.photos.data(of: photo.link) == TestImage.jpeg)
                var results = copy.results(House.self, where: [.equal("address", "stays")]).makeAsyncIterator()
                #expect(await results.next()?.map(\.id) == ["h1"])
                relay.turnOn()
                try await second.records(House.self).modify("h1") { $0.comment = "new" }
                #expect(await results.next()?.map(\.fields.comment) == ["new"])
                // Nobody else can see that copy: a session that has ended takes it away.
                try await second.signOut()
                #expect(await results.next() == nil)
                #expect(try AccountTests.files(in: folder).allSatisfy { !$0.contains("replicas") })
            }
            try await relay.close()
        }
    }
}
