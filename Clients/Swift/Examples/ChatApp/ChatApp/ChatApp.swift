import SelfieClient
import SwiftUI

@main
struct ChatApp: App {
    @StateObject private var account = AccountModel()

    var body: some Scene {
        WindowGroup {
            if account.userID == nil {
                SignInView(account: account)
            } else {
                PeopleView(account: account)
            }
        }
    }
}

/// Who is signed in.
@MainActor
final class AccountModel: ObservableObject {
    let selfie: Selfie
    @Published private(set) var userID: String?
    @Published var problem: String?

    init() {
        guard let url = URL(string: Service.url) else { preconditionFailure("Service.url is no URL.") }
        selfie = Selfie(
            url: url,
            apiCredential: APICredential(name: Service.credentialName, password: Service.credentialPassword)
        )
        userID = try? selfie.userID
        let events = selfie.sessionEvents
        Task { [weak self] in
            for await event in events {
                switch event {
                case .began(let userID): self?.userID = userID
                case .ended(_, let reason):
                    self?.userID = nil
                    if reason != .signedOut { self?.problem = "Your session has ended. Please sign in again." }
                }
            }
        }
    }

    func signIn(_ email: String, _ password: String) async {
        await attempt { try await self.selfie.signIn(email: email, password: password) }
    }

    func signUp(_ email: String, _ password: String, firstName: String, lastName: String) async {
        await attempt {
            try await self.selfie.signUp(
                email: email,
                password: password,
                firstName: firstName,
                lastName: lastName
            )
            try await self.selfie.signIn(email: email, password: password)
        }
    }

    func signOut() async {
        await attempt { try await self.selfie.signOut() }
    }

    private func attempt(_ work: () async throws -> Void) async {
        problem = nil
        do {
            try await work()
        } catch {
            problem = error.localizedDescription
        }
    }
}
