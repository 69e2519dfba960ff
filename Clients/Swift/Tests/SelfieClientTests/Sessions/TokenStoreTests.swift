import Foundation
import Testing

@testable import SelfieClient

@Suite("Token stores")
struct TokenStoreTests {
    @Test("A file that only its owner can read")
    func file() async throws {
        try await TestFolder.with { folder in
            let file = folder.appendingPathComponent("new/session")
            let store = FileTokenStore(file: file)
            #expect(try store.read() == nil)
            try store.write(Data("one".utf8))
            try store.write(Data("two".utf8))
            #expect(try store.read() == Data("two".utf8))
            #expect(try TestFolder.mode(of: file) == 0o600)
            #expect(try TestFolder.mode(of: file.deletingLastPathComponent()) == 0o700)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            #expect(throws: SelfieError.self) { try store.read() }
            try store.remove()
            try store.remove()
            #expect(try store.read() == nil)
        }
    }

    @Test("A token is in no description and no dump of whatever has it")
    func hidden() async throws {
        try await TestFolder.with { folder in
            let secret = "s3cr3t-t0ken"
            let session = Session(token: Token(secret), userID: "ada")
            let selfie = try Selfie.scripted(ScriptedTransport { _, _ in .json("[]") }, folder: folder, token: secret)
            let link = PhotoLink(
                try #require(URL(string: "https://a.example/photos/abc?expires=1&signature=\(secret)")),
                .ownPhoto
            )
            var text =
                "\(session) \(APICredential(name: "app", password: secret)) \(selfie) \(link) \(Proof.code(secret))"
            dump(session, to: &text)
            dump(APICredential(name: "app", password: secret), to: &text)
            dump(selfie, to: &text)
            dump(link, to: &text)
            dump(Proof.password(secret), to: &text)
            text += String(reflecting: session) + String(reflecting: link) + String(reflecting: selfie)
            #expect(!text.contains(secret))
            #expect(link.url(.small).absoluteString.hasSuffix("signature=\(secret)&size=small"))
        }
    }
}
