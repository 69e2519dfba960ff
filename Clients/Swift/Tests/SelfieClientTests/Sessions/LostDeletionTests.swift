import Foundation
import Testing

@testable import SelfieClient

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

    @Test("Signing out leaves the outbox, also at the next start", .timeLimit(.minutes(1)))
    func signOut() async throws {
        try await TestFolder.with { folder in
            let selfie = try await Self.selfie(folder, deletion: { .refusal(500, "internal_error") })
            #expect(await Self.deleteAccount(selfie) == .unavailable(retryAfter: nil))
            try await selfie.signOut()
            let transport = ScriptedTransport { _, _ in
                .json(#"{"id":"bob","first_name":"B","last_name":"L","email":"b@x.example","api_authtoken":"b"}"#)
            }
            let next = try Selfie.scripted(transport, folder: folder, token: nil)
            // A sign-in waits until all that a start removes is removed.
            try await next.signIn(email: "b@x.example", password: "password")
            #expect(try Self.hasPhoto(folder))
        }
    }
}
