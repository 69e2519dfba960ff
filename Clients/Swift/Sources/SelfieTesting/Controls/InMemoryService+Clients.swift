public import Foundation
public import SelfieClient

extension InMemoryService {
    /// Makes a client of the service.
    ///
    /// - Parameters:
    ///   - folder: Where it keeps its files. Two clients that are open need two folders. By default, it is a temporary
    ///     folder of its own, which goes with the service.
    ///   - tokenStore: Where it keeps the session.
    ///   - adjust: Changes the configuration.
    /// - Returns: A client without a user, unless the token store has one.
    public func makeClient(
        folder: URL? = nil,
        tokenStore: any TokenStore = MemoryTokenStore(),
        adjust: (inout SelfieConfiguration) -> Void = { _ in }
    ) -> Selfie {
        var configuration = SelfieConfiguration(
            tokenStore: tokenStore,
            folder: folder ?? self.folder.url.appendingPathComponent(UUID().uuidString),
            transport: self
        )
        adjust(&configuration)
        return Selfie(url: url, apiCredential: apiCredential, configuration: configuration)
    }

    /// Makes a client whose user is signed in.
    ///
    /// An account that is missing is created.
    ///
    /// - Parameters:
    ///   - email: The user's address.
    ///   - password: The user's password.
    ///   - folder: Where it keeps its files; a temporary folder of its own by default.
    ///   - adjust: Changes the configuration.
    /// - Returns: The client.
    /// - Throws: ``SelfieError/emailOrPasswordWrong`` if there is such an account with another password, for example.
    public func makeClient(
        signedInAs email: String,
        password: String = "password",
        folder: URL? = nil,
        adjust: (inout SelfieConfiguration) -> Void = { _ in }
    ) async throws -> Selfie {
        let selfie = makeClient(folder: folder, adjust: adjust)
        if change({ $0.accounts.user(email: email) }) == nil {
            let name = String(email.prefix { $0 != "@" })
            try await selfie.signUp(email: email, password: password, firstName: name, lastName: name)
        }
        try await selfie.signIn(email: email, password: password)
        return selfie
    }
}
