import Foundation
import Testing

@testable import SelfieClient

@Suite("The user of a call")
struct UserOfCallTests {
    private static let bob = Session(token: Token("bob's"), userID: "bob")

    @Test("Another try is not made for the next user", .timeLimit(.minutes(1)))
    func nextTry() async throws {
        try await TestFolder.with { folder in
            let selfie = Locked<Selfie?>(nil)
            let transport = ScriptedTransport { _, _ in
                try selfie.withLock(\.self)?.api.sessions.begin(Self.bob)
                throw TransportError.interrupted
            }
            let client = try Selfie.scripted(transport, folder: folder)
            selfie.withLock { $0 = client }
            defer { selfie.withLock { $0 = nil } }
            await #expect(throws: SelfieError.notSignedIn) {
                try await client.records(House.self).create(House(address: "Ada's"), id: "h")
            }
            #expect(transport.all.map { $0.headers["Authorization"] } == ["Bearer t0ken"])
        }
    }

    @Test("A photo whose source takes long is not uploaded for the next user", .timeLimit(.minutes(1)))
    func upload() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in throw TransportError.notConnected }
            let selfie = try Selfie.scripted(transport, folder: folder) { $0.maxTries = 1 }
            await #expect(throws: SelfieError.notSignedIn) {
                let source = PhotoSource.writer { write in
                    try write(TestPhoto.png)
                    try selfie.api.sessions.begin(Self.bob)
                }
                try await selfie.photos.upload(source, title: "Ada's")
            }
            #expect(!transport.all.contains { $0.url.path.hasSuffix("upload_photo") })
        }
    }

    @Test("A change that was made of one user's record is not sent for the next", .timeLimit(.minutes(1)))
    func modify() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { request, _ in
                guard request.method == "GET" else { throw TransportError.notConnected }
                let time = "2026-11-21T08:06:03.123Z"
                return .json(
                    #"{"id":"h","data":{"address":"1"},"owner":"ada","version":1,"#
                        + #""created_at":"\#(time)","updated_at":"\#(time)"}"#
                )
            }
            let selfie = try Selfie.scripted(transport, folder: folder) { $0.maxTries = 1 }
            await #expect(throws: SelfieError.notSignedIn) {
                try await selfie.records(House.self).modify("h") { house in
                    house.address = "2"
                    try selfie.api.sessions.begin(Self.bob)
                }
            }
            #expect(!transport.all.contains { $0.method == "PATCH" })
        }
    }

    @Test("Another try goes on with the session of a new password", .timeLimit(.minutes(1)))
    func newPassword() async throws {
        try await TestFolder.with { folder in
            let selfie = Locked<Selfie?>(nil)
            let transport = ScriptedTransport { _, number in
                if number > 1 { return .json("[]") }
                try selfie.withLock(\.self)?.api.sessions.begin(Session(token: Token("new"), userID: "ada"))
                throw TransportError.interrupted
            }
            let client = try Selfie.scripted(transport, folder: folder)
            selfie.withLock { $0 = client }
            defer { selfie.withLock { $0 = nil } }
            #expect(try await client.photos.list().isEmpty)
            #expect(transport.all.map { $0.headers["Authorization"] } == ["Bearer t0ken", "Bearer new"])
        }
    }
}
