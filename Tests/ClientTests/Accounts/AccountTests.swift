import ClientTestSupport
import Foundation
import SelfieClient
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
}
