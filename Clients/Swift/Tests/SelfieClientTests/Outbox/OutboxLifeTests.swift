import Foundation
import Testing

@testable import SelfieClient

@Suite("The life of an outbox")
struct OutboxLifeTests {
    private struct House: RecordFields {
        static let collection = "houses"
        var address = "1"
    }

    @Test(
        "When the client is gone, its outbox sends no more, ends its sequences, and another one can be opened",
        .timeLimit(.minutes(1))
    )
    func release() async throws {
        try await TestFolder.with { folder in
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let transport = ScriptedTransport { _, _ in
                begin.yield()
                try await Task.sleep(for: .seconds(3600))
                throw TransportError.interrupted
            }
            let store = MemoryTokenStore()
            store.write(Data(#"{"token":"t","userID":"ada"}"#.utf8))
            weak var released: Outbox?
            let ends: [Task<Void, Never>]
            do {
                let selfie = try Selfie.scripted(transport, folder: folder) { $0.tokenStore = store }
                for number in 0..<10 { try await selfie.outbox.create(House(), id: "h\(number)") }
                released = selfie.outbox
                let (updates, results) = (await selfie.outbox.updates, await selfie.outbox.results)
                ends = [Task { for await _ in updates {} }, Task { for await _ in results {} }]
                for await _ in begun { break }
            }
            for end in ends { await end.value }
            #expect(released == nil)
            let count = transport.all.count
            let second = try Selfie.scripted(transport, folder: folder) { $0.tokenStore = store }
            #expect(await second.outbox.status == .open)
            #expect(await second.outbox.items.count == 10)
            // Its own first try, and none of the first one's.
            for await _ in begun { break }
            #expect(transport.all.count == count + 1)
        }
    }

    @Test("A sign-out and a sign-in while a photo is written leave an outbox that works", .timeLimit(.minutes(1)))
    func signInWhileWriting() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { request, _ in
                guard request.url.path.hasSuffix("signin") else { throw TransportError.notConnected }
                return .json(
                    #"{"id":"ada","first_name":"A","last_name":"L","email":"a@x.example","api_authtoken":"new"}"#
                )
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            let (writing, begin) = AsyncStream.makeStream(of: Void.self)
            let (gate, open) = AsyncStream.makeStream(of: Void.self)
            let upload = Task {
                let source = PhotoSource.writer { write in
                    begin.yield()
                    for await _ in gate { break }
                    try write(Data(count: 100))
                }
                try await selfie.outbox.upload(source, title: "x")
            }
            for await _ in writing { break }
            try await selfie.signOut()
            try await selfie.signIn(email: "a@x.example", password: "secret")
            #expect(await selfie.outbox.status == .open)
            try await selfie.outbox.create(House(), id: "h")
            open.yield()
            await #expect(throws: SelfieError.notSignedIn) { try await upload.value }
            #expect(await selfie.outbox.items.count == 1)
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            #expect(!paths.contains { $0.contains("/uploads/") })
        }
    }

    @Test(
        "What a server on the way finds too large is refused, since it would be so each time",
        .timeLimit(.minutes(1))
    )
    func tooLarge() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in
                TransportResponse(
                    status: 413,
                    headers: ["content-type": "text/html"],
                    body: Data("<html>413</html>".utf8)
                )
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            try await selfie.outbox.upload(.data(Data(count: 1000)), title: "x")
            try await selfie.outbox.waitUntilSent()
            guard case .refused(.tooLarge)? = await selfie.outbox.items.first?.state else {
                Issue.record("It is \(await selfie.outbox.items.map(\.state)).")
                return
            }
            #expect(transport.all.count == 1)
        }
    }

    @Test("Another server's page with 200 counts for nothing as sent", .timeLimit(.minutes(1)))
    func loginPage() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in .json("<html>Sign in to the hotel's network</html>") }
            let selfie = try Selfie.scripted(transport, folder: folder)
            try await selfie.outbox.create(House(), id: "created")
            try await selfie.outbox.save(House(), id: "saved")
            try await selfie.outbox.create(House(), id: "sent", inbox: "bob")
            try await selfie.outbox.delete("deleted", of: House.self)
            try await selfie.outbox.upload(.data(Data(count: 100)), title: "x")
            while transport.all.count < 12 {
                await selfie.outbox.hurry()
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(await selfie.outbox.items.count == 5)
            for call in [
                { try await selfie.records(House.self).save(House(), id: "h") as Any },
                { try await selfie.records(House.self).delete("h") as Any },
            ] {
                await #expect(throws: SelfieError.unexpectedAnswer(status: 200)) { _ = try await call() }
            }
        }
    }

    @Test(
        "After a lost answer, one's own record counts as created, unless it is another one",
        .timeLimit(.minutes(1)),
        arguments: [("ada", 2, true), ("ada", 1, false), ("bob", 2, false)]
    )
    func changedSince(owner: String, version: Int, isCreated: Bool) async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { request, number in
                if number == 1 { throw TransportError.interrupted }
                if request.method == "PUT" { return .refusal(412, "record_version_differs") }
                let time = "2026-11-28T10:00:00.000Z"
                return .json(
                    #"{"id":"h","collection":"houses","data":{"address":"2"},"owner":"\#(owner)","version":\#(version),"#
                        + #""created_at":"\#(time)","updated_at":"\#(time)"}"#
                )
            }
            let selfie = try Selfie.scripted(transport, folder: folder)
            try await selfie.outbox.create(House(), id: "h")
            try await selfie.outbox.waitUntilSent()
            #expect(await selfie.outbox.items.isEmpty == isCreated)
            #expect(transport.all.map(\.method) == ["PUT", "PUT", "GET"])
        }
    }
}
