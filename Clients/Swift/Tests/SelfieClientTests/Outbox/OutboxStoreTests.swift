import Foundation
import Testing

@testable import SelfieClient

@Suite("An outbox on disk")
struct OutboxStoreTests {
    @Test("A line of another version hides no item, and stays")
    func unknownLine() async throws {
        try await TestFolder.with { folder in
            let write = RecordWrite(path: ["records", "houses", "h"], kind: .put, body: ["data": [:]])
            let item = StoredItem(id: UUID(), createdAt: Date(timeIntervalSince1970: 0), content: .write(write))
            let unknown = Data(#"{"moved":{"to":"elsewhere"}}"#.utf8)
            func open() throws -> (store: OutboxStore, events: [OutboxEvent]) {
                var events: [OutboxEvent] = []
                let store = try OutboxStore(folder: folder, userID: "ada", disk: Disk()) { events.append($0) }
                return (store, events)
            }
            do {
                let store = try open().store
                try store.append(.added(item))
            }
            do {
                let log = try FrameLog(file: folder.appendingPathComponent("log"), disk: Disk()) { _ in }
                try log.append(unknown)
            }
            let (store, events) = try open()
            #expect(events == [.added(item)] && store.isDamaged)
            for _ in 0..<100 { try store.append(.retried(UUID())) }
            store.compact(OutboxQueue())
            #expect(try Data(contentsOf: folder.appendingPathComponent("log")).range(of: unknown) != nil)
        }
    }
}
