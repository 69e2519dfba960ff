import ClientTestSupport
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
}
