package import SelfieCore

extension UserAdministration {
    /// Replaces a password that its user forgot, and ends all sessions.
    ///
    /// - Parameters:
    ///   - selector: The account.
    ///   - password: The new password.
    ///   - cost: The cost of its hash.
    /// - Throws: `UserAdministrationError`, `PostgresError`, `PasswordHasherError`.
    package func setPassword(of selector: UserSelector, to password: Password, cost: Int) async throws {
        let id = try await id(of: selector)
        let users = UserStore(postgres: postgres)
        let hasher = try PasswordHasher(cost: cost, options: PasswordHasherOptions(coreCount: 1))
        let result: Result<Bool, any Error>
        do {
            result = .success(try await RecoverAccount(users: users, hasher: hasher).setPassword(password, ofUser: id))
        } catch {
            result = .failure(error)
        }
        try await hasher.shutDown()
        do {
            guard try result.get() else { throw UserAdministrationError.noSuchUser(selector) }
        } catch is InvalidInput {
            throw UserAdministrationError.passwordRefused
        }
        await ChangeNotifier(postgres: postgres).notifyOfEverything()
    }

    /// Gives an account another e-mail.
    ///
    /// - Parameters:
    ///   - selector: The account.
    ///   - email: The new e-mail.
    /// - Throws: `UserAdministrationError`, `PostgresError`.
    package func changeEmail(of selector: UserSelector, to email: String) async throws {
        let id = try await id(of: selector)
        do {
            guard try await ChangeEmail(users: UserStore(postgres: postgres))(email, ofUser: id) else {
                throw UserAdministrationError.noSuchUser(selector)
            }
        } catch let error as InvalidInput {
            let isTaken = error.complaints.contains { $0.problem == .taken }
            throw isTaken ? UserAdministrationError.emailTaken : .emailRefused
        }
    }
}
