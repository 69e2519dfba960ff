import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("What a device keeps of a user, and when it goes")
struct SessionCopiesTests {
    /// The names of a user's folders that have files.
    private static func kept(_ folder: URL) throws -> Set<String> {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return Set(paths.map { $0.split(separator: "/").map(String.init) }.filter { $0.count >= 4 }.map { $0[2] })
    }

    /// A client with copies of photos and records, and an item that waits.
    private static func clientWithCopies(
        _ service: InMemoryService,
        folder: URL,
        store: any TokenStore = MemoryTokenStore()
    ) async throws -> Selfie {
        let selfie = service.makeClient(folder: folder, tokenStore: store)
        try await selfie.signUp(email: "ada@example.com", password: "password", firstName: "Ada", lastName: "L")
        try await selfie.signIn(email: "ada@example.com", password: "password")
        let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x")
        _ = try await selfie.photos.data(of: photo.link)
        try await selfie.replica(of: ["photos"]).waitUntilCurrent()
        // It is refused, so it waits for the app.
        try await selfie.outbox.save(House(address: "1"), id: "h", version: 7)
        try await selfie.outbox.waitUntilSent()
        #expect(try kept(folder) == ["outbox", "pictures", "replicas"])
        return selfie
    }

    @Test(
        "When the app hears of an end, the copies are gone; the outbox waits for the user",
        .timeLimit(.minutes(1)),
        arguments: ["revoked", "expired", "replaced", "signed out"]
    )
    func ends(reason: String) async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let selfie = try await Self.clientWithCopies(service, folder: folder)
            let userID = try #require(try selfie.userID)
            let events = selfie.sessionEvents
            let replica = try await selfie.replica(of: ["photos"])
            switch reason {
            case "revoked": service.endSessions(of: userID)
            case "expired": service.expireSessions(of: userID)
            case "replaced":
                try await selfie.signUp(email: "bob@example.com", password: "password", firstName: "B", lastName: "B")
                try await selfie.signIn(email: "bob@example.com", password: "password")
            default: try await selfie.signOut()
            }
            if reason != "replaced" { await #expect(throws: SelfieError.notSignedIn) { try await selfie.profile() } }
            for await event in events {
                guard case .ended(userID, _) = event else { continue }
                #expect(try Self.kept(folder).subtracting(["lock"]) == ["outbox"])
                break
            }
            #expect(await replica.status == .ended)
            #expect(await replica.ownPhotos().isEmpty)
        }
    }

    @Test("Copies that a killed app has left go at the next start, but for those of who is signed in")
    func start() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let (store, kept) = (MemoryTokenStore(), Self.kept)
            do {
                let selfie = try await Self.clientWithCopies(service, folder: folder, store: store)
                try await selfie.replica(of: ["photos"]).close()
            }
            do {
                let selfie = service.makeClient(folder: folder, tokenStore: store)
                // A sign-in waits until the client has followed all that was before.
                try await selfie.signIn(email: "ada@example.com", password: "password")
                try await selfie.replica(of: ["photos"]).close()
                #expect(try kept(folder) == ["outbox", "pictures", "replicas"])
            }
            // The app was killed behind the end of the session, before the copies were removed.
            store.remove()
            let other = service.makeClient(folder: folder, tokenStore: store)
            try await poll { try kept(folder) == ["outbox"] }
            withExtendedLifetime(other) {}
        }
    }

    @Test("A start leaves what another Selfie has open", .timeLimit(.minutes(1)))
    func openElsewhere() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let first = try await Self.clientWithCopies(service, folder: folder)
            let second = service.makeClient(folder: folder, tokenStore: MemoryTokenStore())
            try await poll { try !Self.kept(folder).contains("pictures") }
            #expect(try Self.kept(folder).contains("replicas"))
            #expect(await second.outbox.status == .notSignedIn)
            try await first.signOut()
        }
    }

    @Test(
        "A deleted account's outbox goes, also if the answer is lost",
        .timeLimit(.minutes(1)),
        arguments: ["answered", "called again", "heard by another call", "started again"]
    )
    func deletedAccount(how: String) async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let store = MemoryTokenStore()
            var selfie = try await Self.clientWithCopies(service, folder: folder, store: store)
            await #expect(throws: SelfieError.passwordWrong) {
                try await selfie.deleteAccount(proof: .password("wrong one"))
            }
            // It waits for changes, so it may hear of the deletion before the app.
            let replica = try await selfie.replica(of: ["photos"])
            if ["called again", "started again"].contains(how) { await replica.close() }
            if how != "answered" {
                service.loseNextAnswer(to: "account")
                await #expect(throws: SelfieError.interrupted) {
                    try await selfie.deleteAccount(proof: .password("password"))
                }
            }
            switch how {
            case "heard by another call": break
            case "started again":
                // The app ends before it knows.
                selfie = service.makeClient(folder: folder, tokenStore: store)
                await #expect(throws: SelfieError.notSignedIn) { try await selfie.profile() }
            default:
                if how == "called again" { #expect(try Self.kept(folder).contains("outbox")) }
                try await selfie.deleteAccount(proof: .password("password"))
                #expect(try selfie.userID == nil)
            }
            try await poll { try Self.kept(folder).isEmpty }
        }
    }

    @Test("A wrong password for a deletion, and a session that ends later, leave the outbox", .timeLimit(.minutes(1)))
    func refusedDeletion() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let selfie = try await Self.clientWithCopies(service, folder: folder)
            let userID = try #require(try selfie.userID)
            await #expect(throws: SelfieError.passwordWrong) {
                try await selfie.deleteAccount(proof: .password("wrong one"))
            }
            service.endSessions(of: userID)
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.profile() }
            try await poll { try Self.kept(folder) == ["outbox"] }
            try await selfie.signIn(email: "ada@example.com", password: "password")
            #expect(await selfie.outbox.items.count == 1)
        }
    }
}
