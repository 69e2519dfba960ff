import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("Accounts in memory")
struct AccountTests {
    private static let email = "ada@example.com"

    @Test("A new user signs in by password, on two devices, and ends one from the other", .timeLimit(.minutes(1)))
    func sessions() async throws {
        let service = try TestSchema.service()
        let phone = service.makeClient { $0.deviceName = "phone" }
        let account = try await phone.signUp(
            email: " Ada@Example.com",
            password: "secret",
            firstName: "Ada",
            lastName: "Lovelace",
            title: "Countess",
            fields: ["born": 1815]
        )
        #expect(account.email == "Ada@Example.com" && account.firstName == "Ada" && account.lastName == "Lovelace")
        #expect(try phone.userID == nil)
        #expect(try await phone.signIn(email: Self.email, password: "secret") == account)
        let tablet = service.makeClient { $0.deviceName = "tablet" }
        try await tablet.signIn(email: Self.email, password: "secret", isRemembered: false)
        let sessions = try await tablet.sessions()
        #expect(sessions.map(\.device) == ["phone", "tablet"] && sessions.map(\.isCurrent) == [false, true])
        let lifetimes = sessions.map { ($0.expiresAt ?? .distantPast).timeIntervalSince($0.createdAt) / 86400 }
        #expect(lifetimes[0] >= 90 && lifetimes[1] == 1)
        let events = phone.sessionEvents
        try await tablet.endSession(sessions[0].id)
        await #expect(throws: SelfieError.notSignedIn) { try await phone.profile() }
        var event = events.makeAsyncIterator()
        #expect(await event.next() == .ended(userID: account.id, .revoked))
        await #expect(throws: SelfieError.self) { try await tablet.endSession(sessions[0].id) }
        #expect(try await tablet.profile().fields == ["born": 1815])
    }

    @Test("Sign-up and sign-in are refused as by the service")
    func refusals() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: Self.email)
        let other = service.makeClient()
        func signUp(_ email: String, _ password: String?) async throws -> String? {
            do {
                try await other.signUp(email: email, password: password, firstName: "A", lastName: "B")
                return nil
            } catch let error as SelfieError {
                return error.refusal?.code
            }
        }
        #expect(try await signUp("ADA@example.com", "secret") == "email_taken")
        #expect(try await signUp("ada", "secret") == "email_invalid")
        #expect(try await signUp("bob@example.com", "short") == "password_too_short")
        #expect(try await signUp("bob@example.com", String(repeating: "x", count: 73)) == "password_too_long")
        #expect(try await signUp("bob@example.com", nil) == "parameters_missing")
        #expect(try await signUp("bob@example.com", String(repeating: "x", count: 72)) == nil)
        await #expect(throws: SelfieError.emailOrPasswordWrong) {
            try await other.signIn(email: Self.email, password: "wrong password")
        }
        await #expect(throws: SelfieError.emailOrPasswordWrong) {
            try await other.signIn(email: "nobody@example.com", password: "password")
        }
        let stranger = Selfie(
            url: service.url,
            apiCredential: APICredential(name: "app", password: "guessed"),
            configuration: SelfieConfiguration(
                tokenStore: MemoryTokenStore(),
                folder: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString),
                transport: service
            )
        )
        await #expect(throws: SelfieError.appRefused) {
            try await stranger.signIn(email: Self.email, password: "password")
        }
        #expect(try selfie.userID != nil)
    }

    @Test("A code signs in once, and another one sets a new password")
    func codes() async throws {
        let service = try TestSchema.service()
        let phone = try await service.makeClient(signedInAs: Self.email)
        let tablet = service.makeClient()
        try await tablet.requestCode(email: "nobody@example.com", for: .signIn)
        #expect(service.code(sentTo: "nobody@example.com") == nil)
        try await tablet.requestCode(email: Self.email, for: .signIn)
        let code = try #require(service.code(sentTo: Self.email))
        await #expect(throws: SelfieError.codeWrong) {
            try await tablet.recoverPassword(email: Self.email, code: code, newPassword: "new secret")
        }
        try await tablet.signIn(email: Self.email, code: code)
        #expect(try await tablet.profile().emailState == "verified")
        await #expect(throws: SelfieError.codeWrong) { try await tablet.signIn(email: Self.email, code: code) }
        try await tablet.requestCode(email: Self.email, for: .reset)
        let reset = try #require(service.code(sentTo: Self.email))
        try await tablet.recoverPassword(email: Self.email, code: reset, newPassword: "new secret")
        #expect(try await tablet.sessions().count == 1)
        await #expect(throws: SelfieError.notSignedIn) { try await phone.profile() }
        await #expect(throws: SelfieError.emailOrPasswordWrong) {
            try await phone.signIn(email: Self.email, password: "password")
        }
        try await phone.signIn(email: Self.email, password: "new secret")
    }

    @Test("An account without a password gets one by a code")
    func withoutPassword() async throws {
        var settings = InMemoryService.Settings()
        settings.signsUpWithoutPassword = true
        let service = try TestSchema.service(settings: settings)
        let selfie = service.makeClient()
        try await selfie.signUp(email: Self.email, password: nil, firstName: "Ada", lastName: "L")
        try await selfie.signIn(email: Self.email, code: try #require(service.code(sentTo: Self.email)))
        try await selfie.requestCode(email: Self.email, for: .reset)
        try await selfie.setPassword("first secret", code: try #require(service.code(sentTo: Self.email)))
        try await selfie.signIn(email: Self.email, password: "first secret")
        await #expect(throws: SelfieError.self) { try await selfie.setPassword("second secret", code: "000000") }
        #expect(try selfie.userID != nil)
    }

    @Test("A changed password and address hold, and a wrong password changes nothing")
    func changes() async throws {
        let service = try TestSchema.service()
        let phone = try await service.makeClient(signedInAs: Self.email)
        let tablet = try await service.makeClient(signedInAs: Self.email)
        await #expect(throws: SelfieError.passwordWrong) { try await phone.changePassword(from: "x", to: "secret") }
        #expect(try await tablet.sessions().count == 2)
        try await phone.changePassword(from: "password", to: "secret")
        #expect(try await phone.sessions().count == 1)
        await #expect(throws: SelfieError.notSignedIn) { try await tablet.profile() }
        await #expect(throws: SelfieError.passwordWrong) {
            try await phone.changeEmail(to: "new@example.com", proof: .password("password"))
        }
        try await phone.changeEmail(to: "new@example.com", proof: .password("secret"))
        #expect(try await phone.profile().email == Self.email)
        let code = try #require(service.code(sentTo: "new@example.com"))
        #expect(try await phone.confirmEmail(code: code).email == "new@example.com")
        try await tablet.signIn(email: "new@example.com", password: "secret")
    }

    @Test("A deleted account takes along what it owns")
    func deletion() async throws {
        let service = try TestSchema.service()
        let ada = try await service.makeClient(signedInAs: Self.email)
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        let adaID = try #require(try ada.userID)
        try await ada.records(News.self).create(News(title: "Hello"), id: "hello")
        let photo = try await ada.photos.upload(.data(TestPhoto.jpeg("x")), title: "x")
        #expect(try await bob.records(News.self).all().collect().count == 1)
        await #expect(throws: SelfieError.passwordWrong) { try await ada.deleteAccount(proof: .password("wrong")) }
        try await ada.deleteAccount(proof: .password("password"))
        #expect(try ada.userID == nil)
        #expect(try await bob.records(News.self).all().collect().isEmpty)
        #expect(service.bytes(of: photo.id) == nil)
        await #expect(throws: SelfieError.self) { try await bob.member(adaID) }
        await #expect(throws: SelfieError.emailOrPasswordWrong) {
            try await ada.signIn(email: Self.email, password: "password")
        }
    }

    @Test("Signing out ends the session, also everywhere, and works without a network")
    func signOut() async throws {
        let service = try TestSchema.service()
        let phone = try await service.makeClient(signedInAs: Self.email)
        let tablet = try await service.makeClient(signedInAs: Self.email)
        try await phone.signOut()
        #expect(try phone.userID == nil)
        #expect(try await tablet.sessions().count == 1)
        try await phone.signIn(email: Self.email, password: "password")
        try await phone.signOut(everywhere: true)
        await #expect(throws: SelfieError.notSignedIn) { try await tablet.profile() }
        try await phone.signIn(email: Self.email, password: "password")
        service.isOffline = true
        await #expect(throws: SelfieError.offline) { try await phone.signOut(everywhere: true) }
        #expect(try phone.userID != nil)
        try await phone.signOut()
        #expect(try phone.userID == nil)
    }

    @Test("A session that has expired ends as expired", .timeLimit(.minutes(1)))
    func expired() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: Self.email)
        let userID = try #require(try selfie.userID)
        let events = selfie.sessionEvents
        service.expireSessions(of: userID)
        await #expect(throws: SelfieError.notSignedIn) { try await selfie.profile() }
        var event = events.makeAsyncIterator()
        #expect(await event.next() == .ended(userID: userID, .expired))
    }
}
