import Foundation
import Testing

@testable import SelfieClient

@Suite("The limits of an outbox")
struct OutboxLimitTests {
    @Test("Uploads that are added beside each other stay within its bytes together", .timeLimit(.minutes(1)))
    func parallelUploads() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in throw TransportError.notConnected }
            let selfie = try Selfie.scripted(transport, folder: folder) { $0.maxOutboxBytes = 25_000 }
            // All have begun before the first one ends.
            let begun = Locked(0)
            let added = await withTaskGroup(of: Bool.self) { tasks in
                for _ in 0..<8 {
                    tasks.addTask {
                        let source = PhotoSource.writer { write in
                            begun.withLock { $0 += 1 }
                            while begun.withLock({ $0 }) < 8 { try await Task.sleep(for: .milliseconds(1)) }
                            try write(Data(count: 10_000))
                        }
                        do {
                            try await selfie.outbox.upload(source, title: "x")
                            return true
                        } catch {
                            #expect(error as? SelfieError == .outboxFull)
                            return false
                        }
                    }
                }
                return await tasks.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(added == 2)
            #expect(await selfie.outbox.items.count == 2)
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            #expect(paths.filter { $0.contains("/uploads/") }.count == 2)
            await #expect(throws: SelfieError.outboxFull) {
                try await selfie.outbox.upload(.data(Data(count: 10_000)), title: "x")
            }
        }
    }
}
