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

    @Test("One that is closed while it looks for collections leaves the file to the next", .timeLimit(.minutes(1)))
    func closedMeanwhile() async throws {
        try await TestFolder.with { folder in
            let (asked, isOpen) = (Locked(false), Locked(false))
            let transport = ScriptedTransport { request, number in
                if request.url.path.hasSuffix("/records/houses") {
                    asked.withLock { $0 = true }
                    // The answer is on its way already, so it comes in spite of the end.
                    try await Task { try await poll { isOpen.withLock(\.self) } }.value
                    return .refusal(404, "collection_not_found")
                }
                switch number {
                case 1:
                    return .json(
                        #"{"changes":[{"type":"created","collection":"houses","id":"1","record":{"id":"1"}}],"#
                            + #""cursor":"1","more":false}"#
                    )
                case 2: return .refusal(404, "collection_not_found")
                default: throw TransportError.notConnected
                }
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            var former: Replica? = try await selfie.replica(of: ["houses"])
            try await poll { asked.withLock(\.self) }
            await former?.close()
            let next = try await selfie.replica(of: ["houses"])
            #expect(await next.entries(of: "houses").keys.sorted() == ["1"])
            isOpen.withLock { $0 = true }
            weak let closed = former
            former = nil
            try await poll { closed == nil }
            await next.close()
            let last = try await selfie.replica(of: ["houses"])
            #expect(await last.entries(of: "houses").keys.sorted() == ["1"])
        }
    }
}
