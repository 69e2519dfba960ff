import Foundation
import Testing

@_spi(Testing) @testable import SelfieClient

@Suite("The answer to the deletion of an account")
struct LostDeletionTests {
    /// Sends `DELETE` and `GET` as told, and nothing else.
    private static func selfie(
        _ folder: URL,
        deletion: @escaping @Sendable () throws -> TransportResponse,
        profile: @escaping @Sendable () throws -> TransportResponse = { throw TransportError.notConnected }
    ) async throws -> Selfie {
        let transport = ScriptedTransport { request, _ in
            switch request.url.path.split(separator: "/").last {
            case "account": return try deletion()
            case "get_photos": return try profile()
            case "signin":
                return .json(
                    #"{"id":"ada","first_name":"A","last_name":"L","email":"a@x.example","api_authtoken":"new"}"#
                )
            default: throw TransportError.notConnected
            }
        }
        let selfie = try Selfie.scripted(transport, folder: folder)
        try await selfie.outbox.upload(.data(TestPhoto.png), title: "precious")
        #expect(try hasPhoto(folder))
        return selfie
    }

    private static func hasPhoto(_ folder: URL) throws -> Bool {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).contains { $0.contains("/outbox/uploads/") }
    }

    private static func deleteAccount(_ selfie: Selfie) async -> SelfieError? {
        do {
            try await selfie.deleteAccount(proof: .password("password"))
            return nil
        } catch {
            return error as? SelfieError
        }
    }

    @Test("A session that was ended elsewhere leaves the outbox, however often it is tried", .timeLimit(.minutes(1)))
    func revokedElsewhere() async throws {
        for _ in 0..<20 {
            try await TestFolder.with { folder in
                let selfie = try await Self.selfie(folder, deletion: { .refusal(401, "token_invalid") })
                #expect(await Self.deleteAccount(selfie) == .notSignedIn)
                await selfie.sessionFollower.catchUp()
                #expect(try Self.hasPhoto(folder))
            }
        }
    }

    @Test("While the call is under way, nothing says that the account is deleted")
    func underWay() async throws {
        try await TestFolder.with { folder in
            let folders = UserFolders(folder: folder)
            let wasMarked = Locked(false)
            let selfie = try await Self.selfie(folder) {
                wasMarked.withLock { $0 = folders.hasDeletionMark("ada") }
                throw TransportError.notConnected
            }
            #expect(await Self.deleteAccount(selfie) == .offline)
            #expect(!wasMarked.withLock(\.self) && !folders.hasDeletionMark("ada"))
        }
    }

    @Test("The service's own 503 may come behind the work", arguments: ["0", "5", nil])
    func unavailable(retryAfter: String?) async throws {
        try await TestFolder.with { folder in
            let headers = retryAfter.map { ["Retry-After": $0] } ?? [:]
            let selfie = try await Self.selfie(
                folder,
                deletion: { .refusal(503, "service_unavailable", headers: headers) },
                profile: { .refusal(401, "token_invalid") }
            )
            #expect(await Self.deleteAccount(selfie)?.isTransient == true)
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() }
            await selfie.sessionFollower.catchUp()
            #expect(try !Self.hasPhoto(folder))
        }
    }

    @Test("A sign-in, or any call that succeeds, proves that the account is there", arguments: [true, false])
    func isThere(signsIn: Bool) async throws {
        try await TestFolder.with { folder in
            let isKnown = Locked(true)
            let selfie = try await Self.selfie(
                folder,
                deletion: { .refusal(500, "internal_error") },
                profile: { isKnown.withLock(\.self) ? .json("[]") : .refusal(401, "token_invalid") }
            )
            #expect(await Self.deleteAccount(selfie) == .unavailable(retryAfter: nil))
            if signsIn {
                try await selfie.signOut()
                try await selfie.signIn(email: "a@x.example", password: "password")
            } else {
                #expect(try await selfie.photos.list().isEmpty)
            }
            // The session ends for another reason.
            isKnown.withLock { $0 = false }
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() }
            await selfie.sessionFollower.catchUp()
            #expect(try Self.hasPhoto(folder))
        }
    }

    @Test(
        "An end that is not the service's leaves the outbox, also at the next start",
        .timeLimit(.minutes(1)),
        arguments: ["signed out", "expired", "replaced", "replaced in the store"]
    )
    func otherEnds(how: String) async throws {
        try await TestFolder.with { folder in
            let code = how == "expired" ? "token_expired" : "token_invalid"
            let selfie = try await Self.selfie(
                folder,
                deletion: { .refusal(500, "internal_error") },
                profile: { .refusal(401, code) }
            )
            #expect(await Self.deleteAccount(selfie) == .unavailable(retryAfter: nil))
            let bob = Session(token: Token("b"), userID: "bob")
            switch how {
            case "signed out": try await selfie.signOut()
            case "expired": await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() }
            case "replaced": try selfie.api.sessions.begin(bob)
            default:
                try selfie.api.configuration.tokenStore.write(JSONCoding.encode(bob))
                await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() }
            }
            await selfie.sessionFollower.catchUp()
            try await Self.start(folder)
            #expect(try Self.hasPhoto(folder))
        }
    }

    /// Starts another client, which removes what a start removes.
    private static func start(_ folder: URL) async throws {
        let transport = ScriptedTransport { _, _ in
            .json(#"{"id":"eve","first_name":"E","last_name":"L","email":"e@x.example","api_authtoken":"e"}"#)
        }
        let selfie = try Selfie.scripted(transport, folder: folder, token: nil)
        // A sign-in waits for the start.
        try await selfie.signIn(email: "e@x.example", password: "password")
    }

    @Test("A deletion that is called again is not done, if the session has only expired", .timeLimit(.minutes(1)))
    func expired() async throws {
        try await TestFolder.with { folder in
            let isFirst = Locked(true)
            let selfie = try await Self.selfie(folder) {
                let isLost = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                return isLost ? .refusal(500, "internal_error") : .refusal(401, "token_expired")
            }
            #expect(await Self.deleteAccount(selfie) == .unavailable(retryAfter: nil))
            #expect(await Self.deleteAccount(selfie) == .notSignedIn)
            await selfie.sessionFollower.catchUp()
            #expect(try Self.hasPhoto(folder))
        }
    }

    @Test(
        "An outbox that is not removed when the account is deleted is removed at the next start",
        .timeLimit(.minutes(1)),
        arguments: ["answered", "lost"]
    )
    func unremovable(answer: String) async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { request, _ in
                switch request.url.path.split(separator: "/").last {
                case "account" where answer == "answered": return .json("{}")
                case "account": throw TransportError.interrupted
                case "get_photos": return .refusal(401, "token_invalid")
                default: throw TransportError.notConnected
                }
            }
            let selfie = try Selfie.scripted(transport, folder: folder) { configuration in
                configuration.beforeStep = { if $0 == "remove" { throw SelfieError.storage("The disk is read-only.") } }
            }
            try await selfie.outbox.upload(.data(TestPhoto.png), title: "precious")
            #expect(await Self.deleteAccount(selfie) == (answer == "answered" ? nil : .interrupted))
            if answer == "lost" { await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() } }
            await selfie.sessionFollower.catchUp()
            #expect(try Self.hasPhoto(folder))
            try await Self.start(folder)
            #expect(try !Self.hasPhoto(folder))
            #expect(selfie.api.folders.deleted(exceptOf: nil).isEmpty)
        }
    }

    @Test("Any call that succeeds proves that the account is there, also if it was said to be deleted")
    func isThereAfterAll() async throws {
        try await TestFolder.with { folder in
            let selfie = try await Self.selfie(
                folder,
                deletion: { .refusal(500, "internal_error") },
                profile: { .json("[]") }
            )
            let folders = selfie.api.folders
            try folders.setDeletionMark("ada")
            try folders.confirmDeletion("ada")
            #expect(try await selfie.photos.list().isEmpty)
            #expect(folders.deleted(exceptOf: nil).isEmpty)
        }
    }

    @Test("A refused deletion is not done, if another call has proved meanwhile that the account is there")
    func provedMeanwhile() async throws {
        try await TestFolder.with { folder in
            let folders = UserFolders(folder: folder)
            let selfie = try await Self.selfie(folder) {
                folders.removeDeletion(of: "ada")
                return .refusal(401, "token_invalid")
            }
            try folders.setDeletionMark("ada")
            #expect(await Self.deleteAccount(selfie) == .notSignedIn)
            await selfie.sessionFollower.catchUp()
            #expect(try Self.hasPhoto(folder))
        }
    }

    @Test("An outbox of a deleted account is left while somebody has it open, and after a sign-in")
    func confirmed() async throws {
        try await TestFolder.with { folder in
            let selfie = try await Self.selfie(folder, deletion: { .refusal(500, "internal_error") })
            let folders = selfie.api.folders
            try folders.setDeletionMark("ada")
            try folders.confirmDeletion("ada")
            try await Self.start(folder)
            #expect(try Self.hasPhoto(folder))
            #expect(folders.deleted(exceptOf: nil) == [folders.folder(of: "ada")])
            #expect(folders.deleted(exceptOf: "ada").isEmpty)
            try await selfie.signIn(email: "a@x.example", password: "password")
            #expect(folders.deleted(exceptOf: nil).isEmpty)
            #expect(try Self.hasPhoto(folder))
        }
    }
}
