import Foundation
import Testing

@testable import SelfieClient

@Suite("The end of a session")
struct SessionEndTests {
    @Test("Many calls that find it ended are one event", .timeLimit(.minutes(1)))
    func once() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { request, _ in
                request.headers["Authorization"] == "Bearer t0ken"
                    ? .refusal(401, "token_invalid")
                    : .json(
                        #"{"id":"bob","first_name":"Bob","last_name":"B","email":"b@x.example","api_authtoken":"new"}"#
                    )
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            let events = selfie.sessionEvents
            await withTaskGroup(of: Void.self) { tasks in
                for _ in 0..<20 {
                    tasks.addTask {
                        await #expect(throws: SelfieError.notSignedIn) { try await selfie.profile() }
                    }
                }
            }
            #expect(try selfie.userID == nil)
            try await selfie.signIn(email: "b@x.example", password: "secret")
            var all = events.makeAsyncIterator()
            #expect(await all.next() == .ended(userID: "ada", .revoked))
            #expect(await all.next() == .began(userID: "bob"))
        }
    }

    @Test("A late answer to an old session does not end the new one")
    func late() async throws {
        try await TestFolder.with { folder in
            let selfie = try Selfie.scripted(
                ScriptedTransport { _, _ in .refusal(401, "token_expired") },
                folder: folder
            )
            let old = try #require(try selfie.api.sessions.current())
            let new = Session(token: Token("new"), userID: "bob")
            try selfie.api.sessions.begin(new)
            var call = Call("GET", selfie.api.url(["me"]))
            call.authentication = .session(old)
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.api.send(call) }
            #expect(try selfie.api.sessions.current() == new)
        }
    }

    @Test("A session that another process has begun in the same store goes on, and nobody is signed out")
    func begunElsewhere() async throws {
        try await TestFolder.with { folder in
            let store = MemoryTokenStore()
            store.write(Data(#"{"token":"old","userID":"ada"}"#.utf8))
            let transport = ScriptedTransport { request, _ in
                request.headers["Authorization"] == "Bearer old" ? .refusal(401, "token_invalid") : .json("[]")
            }
            let selfie = try Selfie.scripted(transport, folder: folder) { $0.tokenStore = store }
            #expect(try selfie.userID == "ada")
            let new = Data(#"{"token":"new","userID":"ada"}"#.utf8)
            store.write(new)
            #expect(try await selfie.photos.list().isEmpty)
            #expect(transport.all.count == 2)
            #expect(store.read() == new)
            #expect(selfie.api.sessions.eventCount == 0)
        }
    }

    @Test("A call is repeated once with a newer session, and then says that nobody is signed in")
    func begunElsewhereOften() async throws {
        try await TestFolder.with { folder in
            let store = MemoryTokenStore()
            store.write(Data(#"{"token":"0","userID":"ada"}"#.utf8))
            let transport = ScriptedTransport { _, number in
                store.write(Data(#"{"token":"\#(number)","userID":"ada"}"#.utf8))
                return .refusal(401, "token_invalid")
            }
            let selfie = try Selfie.scripted(transport, folder: folder) { $0.tokenStore = store }
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() }
            #expect(transport.all.map { $0.headers["Authorization"] } == ["Bearer 0", "Bearer 1"])
        }
    }

    @Test("When another process has signed another user in, the app hears of the end and the begin")
    func otherUserElsewhere() async throws {
        try await TestFolder.with { folder in
            let store = MemoryTokenStore()
            store.write(Data(#"{"token":"old","userID":"ada"}"#.utf8))
            let transport = ScriptedTransport { request, _ in
                guard request.url.path.hasSuffix("get_photos") else { throw TransportError.notConnected }
                return request.headers["Authorization"] == "Bearer old" ? .refusal(401, "token_invalid") : .json("[]")
            }
            let selfie = try Selfie.scripted(transport, folder: folder) { $0.tokenStore = store }
            let replica = try await selfie.replica(of: ["photos"])
            var events = selfie.sessionEvents.makeAsyncIterator()
            let bobs = Data(#"{"token":"new","userID":"bob"}"#.utf8)
            store.write(bobs)
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() }
            try #require(selfie.api.sessions.eventCount == 2)
            #expect(await events.next() == .ended(userID: "ada", .replaced))
            #expect(await events.next() == .began(userID: "bob"))
            #expect(await replica.status == .ended)
            #expect(try await selfie.photos.list().isEmpty)
            #expect(try selfie.userID == "bob" && store.read() == bobs)
        }
    }

    @Test("Other refusals with 401 end nothing", arguments: ["password_wrong", "photo_not_found", "code_invalid"])
    func others(code: String) async throws {
        try await TestFolder.with { folder in
            let selfie = try Selfie.scripted(ScriptedTransport { _, _ in .refusal(401, code) }, folder: folder)
            await #expect(throws: SelfieError.self) { try await selfie.profile() }
            #expect(try selfie.userID == "ada")
        }
    }

    @Test("What goes of one user ends no replica of another")
    func otherUser() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in throw TransportError.notConnected }
            let selfie = try Selfie.scripted(transport, folder: folder)
            let replica = try await selfie.replica(of: ["photos"])
            await selfie.replicas.removeCopies(of: "bob")
            #expect(await replica.status != .ended)
            await selfie.replicas.removeCopies(of: "ada")
            #expect(await replica.status == .ended)
        }
    }

    @Test("Sign-out asks a silent service once, and not for long")
    func silent() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in throw TransportError.interrupted }
            let selfie = try Selfie.scripted(transport, folder: folder)
            try await selfie.signOut()
            #expect(transport.all.map(\.timeout) == [.seconds(5)])
            #expect(try selfie.userID == nil)
        }
    }

    @Test("A store that can't be read now signs nobody out")
    func unreadable() async throws {
        struct LockedStore: TokenStore {
            func read() throws -> Data? { throw SelfieError.storage("The device is locked.") }
            func write(_: Data) {}
            func remove() { Issue.record("It was removed.") }
        }
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in .json("[]") }
            let selfie = try Selfie.scripted(transport, folder: folder) { $0.tokenStore = LockedStore() }
            await #expect(throws: SelfieError.storage("The device is locked.")) { try await selfie.profile() }
            #expect(transport.all.isEmpty)
        }
    }

    @Test(
        "While a new password is on its way, a refused token signs nobody out, unless the call fails",
        .timeLimit(.minutes(1)),
        arguments: [true, false]
    )
    func newPassword(succeeds: Bool) async throws {
        try await TestFolder.with { folder in
            let (refused, refusal) = AsyncStream.makeStream(of: Void.self)
            let transport = ScriptedTransport { request, _ in
                guard request.url.path.hasSuffix("reset_password") else { return .refusal(401, "token_invalid") }
                // The service has ended the old session, and its answer takes a while.
                for await _ in refused { break }
                guard succeeds else { throw TransportError.interrupted }
                return .json(
                    #"{"id":"ada","first_name":"A","last_name":"L","email":"a@x.example","api_authtoken":"new"}"#
                )
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            var events = selfie.sessionEvents.makeAsyncIterator()
            let change = Task { try await selfie.changePassword(from: "old one", to: "new one") }
            while !transport.all.contains(where: { $0.url.path.hasSuffix("reset_password") }) { await Task.yield() }
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.profile() }
            #expect(try selfie.userID == "ada")
            refusal.yield()
            if succeeds {
                try await change.value
                #expect(await events.next() == .began(userID: "ada"))
                #expect(try selfie.userID == "ada")
            } else {
                await #expect(throws: SelfieError.interrupted) { try await change.value }
                #expect(await events.next() == .ended(userID: "ada", .revoked))
                #expect(try selfie.userID == nil)
            }
        }
    }

    @Test(
        "While a deletion is on its way, nobody is told of the end that another call finds; then its answer is lost",
        .timeLimit(.minutes(1))
    )
    func lostDeletion() async throws {
        try await TestFolder.with { folder in
            let (refused, refusal) = AsyncStream.makeStream(of: Void.self)
            let transport = ScriptedTransport { request, _ in
                guard request.method == "DELETE" else { return .refusal(401, "token_invalid") }
                for await _ in refused { break }
                throw TransportError.interrupted
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            var events = selfie.sessionEvents.makeAsyncIterator()
            let deletion = Task { try await selfie.deleteAccount(proof: .password("password")) }
            while !transport.all.contains(where: { $0.method == "DELETE" }) { await Task.yield() }
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.profile() }
            #expect(try selfie.userID == "ada")
            refusal.yield()
            await #expect(throws: SelfieError.interrupted) { try await deletion.value }
            #expect(await events.next() == .ended(userID: "ada", .revoked))
            // It goes with the outbox, before the app is told.
            #expect(!selfie.api.folders.hasDeletionMark("ada"))
            #expect(try selfie.userID == nil)
        }
    }
}
