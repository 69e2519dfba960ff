import ClientTestSupport
import Foundation
import SelfieClient
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's accounts")
struct AccountTests {
    @Test("The tutorial's eight calls", .timeLimit(.minutes(1)))
    func eightCalls() async throws {
        try await TestClient.run { service, client in
            let selfie = client.selfie
            let account = try await selfie.signUp(
                email: "ada@example.com",
                password: "secret 1",
                firstName: "Ada",
                lastName: "Lovelace"
            )
            #expect(account.firstName == "Ada" && account.email == "ada@example.com")
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() }
            await #expect(throws: SelfieError.emailOrPasswordWrong) {
                try await selfie.signIn(email: "ada@example.com", password: "secret 2")
            }
            #expect(try await selfie.signIn(email: "ada@example.com", password: "secret 1") == account)
            #expect(try selfie.userID == account.id)
            let photo = try await selfie.photos.upload(.data(TestImage.jpeg), title: "Me ü \"1\"", name: "a \"b\".jpg")
            #expect(photo.title == "Me ü \"1\"")
            let list = try await selfie.photos.list()
            #expect(list.map(\.id) == [photo.id])
            #expect(try await selfie.photos.data(of: list[0].link) == TestImage.jpeg)
            try await selfie.changePassword(from: "secret 1", to: "secret 3")
            #expect(try await selfie.photos.list().map(\.id) == [photo.id])
            try await selfie.photos.delete(photo.id)
            #expect(try await selfie.photos.list().isEmpty)
            try await selfie.signOut()
            await #expect(throws: SelfieError.notSignedIn) { try await selfie.photos.list() }
        }
    }

    @Test("Codes from mails sign in, set a password and confirm another address", .timeLimit(.minutes(1)))
    func codes() async throws {
        try await TestClient.run(settings: ["SIGNUP_WITHOUT_PASSWORD": "true"]) { service, client in
            let (selfie, email) = (client.selfie, "ada@example.com")
            let account = try await selfie.signUp(email: email, password: nil, firstName: "Ada", lastName: "L")
            // If the next code is there before the first one's mail, that mail is not sent.
            let signUpCode = try await service.mails.code(to: email)
            try await selfie.requestCode(email: email, for: .signIn)
            let signInCode = try await service.mails.code(to: email, number: 2)
            for wrong in ["abcdef", signUpCode] {
                await #expect(throws: SelfieError.codeWrong) { try await selfie.signIn(email: email, code: wrong) }
            }
            #expect(try await selfie.signIn(email: email, code: signInCode) == account)
            await #expect(throws: SelfieError.codeWrong) { try await selfie.signIn(email: email, code: signInCode) }

            try await selfie.requestCode(email: email, for: .reset)
            let resetCode = try await service.mails.code(to: email, number: 3)
            try await selfie.setPassword("secret 1", code: resetCode)

            let newEmail = "lovelace@example.com"
            await #expect(throws: SelfieError.passwordWrong) {
                try await selfie.changeEmail(to: newEmail, proof: .password("secret 2"))
            }
            try await selfie.changeEmail(to: newEmail, proof: .password("secret 1"))
            let confirmed = try await selfie.confirmEmail(code: service.mails.code(to: newEmail))
            #expect(confirmed.id == account.id && confirmed.email == newEmail)

            try await selfie.requestCode(email: newEmail, for: .reset)
            let recoveryCode = try await service.mails.code(to: newEmail, number: 2)
            try await selfie.recoverPassword(email: newEmail, code: recoveryCode, newPassword: "secret 3")
            #expect(try await selfie.signIn(email: newEmail, password: "secret 3").id == account.id)
            #expect(![signInCode, resetCode, recoveryCode, "secret 1"].contains { client.log.text.contains($0) })
        }
    }

    @Test("A session that another device ends is over once, whoever finds it", .timeLimit(.minutes(1)))
    func sessions() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let other = try await service.addSecondSession(of: ada)
            try await TemporaryFolder.with { folder in
                let phone = try TestClient(service, folder: folder.appending(path: "phone"), as: ada).selfie
                let tablet = try TestClient(service, folder: folder.appending(path: "tablet"), as: other).selfie
                try await phone.photos.upload(.data(TestImage.jpeg), title: "Me")
                try await tablet.replica(of: ["photos"]).waitUntilCurrent()
                let photo = try #require(try await tablet.photos.list().first)
                _ = try await tablet.photos.data(of: photo.link)
                let users = folder.appending(path: "tablet/users")
                #expect(try Self.files(in: users).contains { $0.contains("pictures") })
                #expect(try Self.files(in: users).contains { $0.contains("replicas") })

                let sessions = try await phone.sessions()
                #expect(sessions.count == 2 && sessions.filter(\.isCurrent).count == 1)
                let events = tablet.sessionEvents
                for session in sessions where !session.isCurrent { try await phone.endSession(session.id) }
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<10 {
                        group.addTask {
                            await #expect(throws: SelfieError.notSignedIn) { try await tablet.profile() }
                        }
                    }
                }
                var iterator = events.makeAsyncIterator()
                #expect(await iterator.next() == .ended(userID: ada.id, .revoked))
                // Who lost a device ends its session elsewhere. Then nothing of it stays there.
                try await poll("nothing of hers is on the tablet") {
                    try !Self.files(in: users).contains { $0.contains("pictures") || $0.contains("replicas") }
                }
                #expect(try await phone.sessions().count == 1)
            }
        }
    }

    @Test("A deleted account leaves nothing on the device", .timeLimit(.minutes(1)))
    func deletion() async throws {
        try await TestClient.run { _, client in
            let (selfie, email) = (client.selfie, "ada@example.com")
            try await selfie.signUp(email: email, password: "secret 1", firstName: "Ada", lastName: "L")
            try await selfie.signIn(email: email, password: "secret 1")
            try await selfie.outbox.upload(.data(Data("no photo".utf8)), title: "refused")
            try await selfie.outbox.waitUntilSent()
            #expect(await selfie.outbox.items.count == 1)
            await #expect(throws: SelfieError.passwordWrong) {
                try await selfie.deleteAccount(proof: .password("secret 2"))
            }
            #expect(try Self.files(in: client.folder).isEmpty == false)
            try await selfie.deleteAccount(proof: .password("secret 1"))
            #expect(try selfie.userID == nil)
            try await poll("no file is left") { try Self.files(in: client.folder).isEmpty }
            await #expect(throws: SelfieError.emailOrPasswordWrong) {
                try await selfie.signIn(email: email, password: "secret 1")
            }
        }
    }

    /// The paths of all files below a folder.
    static func files(in folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: folder.appending(path: path).path,
                isDirectory: &isFolder
            )
            return exists && !isFolder.boolValue
        }
    }
}
