import ClientTestSupport
import Foundation
import SelfieClient
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's secrets")
struct SecretsTests {
    @Test(
        "No token, password or signature is in a description, the log, or a file but the session's",
        .timeLimit(.minutes(1))
    )
    func secrets() async throws {
        try await TestService.runWithSchema { service in
            try await TemporaryFolder.with { folder in
                let sessionFile = folder.appending(path: "session")
                let client = try TestClient(service, folder: folder.appending(path: "files")) {
                    $0.tokenStore = FileTokenStore(file: sessionFile)
                }
                let (selfie, email, password) = (client.selfie, "ada@example.com", "a 5ecret")
                try await selfie.signUp(email: email, password: password, firstName: "Ada", lastName: "L")
                try await selfie.signIn(email: email, password: password)
                let session = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: sessionFile))
                let token = try #require(session["token"])

                var texts: [String] = []
                func look(_ value: Any) { texts += ["\(value)", String(reflecting: value), Self.dump(of: value)] }
                let photo = try await selfie.photos.upload(.data(TestImage.jpeg), title: "Me")
                let signature = try #require(photo.link.url().query)
                try await selfie.outbox.upload(.data(Data("no photo".utf8)), title: "refused")
                try await selfie.outbox.save(House(address: "Oak Road", photo: photo.id), id: "h1")
                try await selfie.outbox.waitUntilSent()
                let replica = try await selfie.replica(of: ["photos", "houses"])
                try await replica.waitUntilCurrent()
                look(selfie)
                look(photo)
                look(try await selfie.photos.list())
                look(await selfie.outbox.items)
                look(await replica.ownPhotos())
                look(await replica.records(House.self))
                look(Proof.password(password))
                look(APICredential(name: TestService.apiName, password: TestService.apiPassword))
                look(SelfieConfiguration(tokenStore: MemoryTokenStore(), folder: folder))
                for (email, password) in [(email, "wr0ng pass"), ("nobody@example.com", password)] {
                    do {
                        try await selfie.signIn(email: email, password: password)
                    } catch {
                        look(error)
                        look(error.localizedDescription)
                    }
                }
                texts.append(client.log.text)
                #expect(client.log.text.contains("/api/signin"))
                let signatureText = try #require(signature.split(separator: "=").last.map(String.init))
                for secret in [token, password, "wr0ng pass", TestService.apiPassword, signatureText] {
                    #expect(!texts.contains { $0.contains(secret) }, "It begins with \(secret.prefix(2)).")
                }

                let files = try AccountTests.files(in: folder)
                #expect(files.contains { $0.contains("outbox") } && files.contains { $0.contains("replicas") })
                for path in files {
                    let file = folder.appending(path: path)
                    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                    #expect(mode == 0o600, "\(path)")
                    guard file.lastPathComponent != "session" else { continue }
                    let contents = try Data(contentsOf: file)
                    for secret in [token, password, TestService.apiPassword] {
                        #expect(contents.range(of: Data(secret.utf8)) == nil, "\(path)")
                    }
                }
                // A copy has the URLs of photos. Only their owner can read it: the folder's mode is 700.
                for name in ["files", "files/users"] {
                    let path = folder.appending(path: name).path
                    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
                }
            }
        }
    }

    private static func dump(of value: Any) -> String {
        var text = ""
        Swift.dump(value, to: &text)
        return text
    }
}
