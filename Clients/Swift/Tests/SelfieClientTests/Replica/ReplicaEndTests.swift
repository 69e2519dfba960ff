import Foundation
import Testing

@testable import SelfieClient

@Suite("The end of a replica")
struct ReplicaEndTests {
    @Test("Whoever follows a replica is told of its end when it is released", .timeLimit(.minutes(1)))
    func released() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in throw TransportError.notConnected }
            var selfie: Selfie? = try Selfie.scripted(transport, folder: folder)
            var replica = try await selfie?.replica(of: ["photos", "houses"])
            let (begun, ended) = (Locked(0), Locked(0))
            if let replica {
                // All live sequences have such a source.
                let (source, statuses) = (LiveSource(replica, .photos), await replica.statuses)
                Task {
                    var source = source
                    _ = await source.next()
                    begun.withLock { $0 += 1 }
                    while await source.next() != nil {}
                    ended.withLock { $0 += 1 }
                }
                Task {
                    var isFirst = true
                    for await _ in statuses where isFirst {
                        isFirst = false
                        begun.withLock { $0 += 1 }
                    }
                    ended.withLock { $0 += 1 }
                }
            }
            try await poll { begun.withLock(\.self) == 2 }
            (selfie, replica) = (nil, nil)
            try await poll { ended.withLock(\.self) == 2 }
        }
    }
}
