package import SelfieAccounts

extension Administration {
    /// Replaces a password that its user forgot, and ends all sessions.
    ///
    /// - Parameters:
    ///   - selector: The account.
    ///   - password: The new password.
    ///   - cost: The cost of its hash.
    /// - Throws: `AdministrationError`, `PostgresError`, `TooBusy`.
    package func setPassword(of selector: UserSelector, to password: Password, cost: Int) async throws {
        let id = try await id(of: selector)
        let users = UserStore(postgres: postgres, notices: notices)
        let hasher = try PasswordHasher(cost: cost, options: PasswordHasherOptions(coreCount: 1))
        let result: Result<Bool, any Error>
        do {
            result = .success(try await RecoverAccount(users: users, hasher: hasher).setPassword(password, ofUser: id))
        } catch {
            result = .failure(error)
        }
        try await hasher.shutDown()
        do {
            guard try result.get() else { throw AdministrationError.noSuchUser(selector) }
        } catch is InvalidInput {
            throw AdministrationError.passwordRefused
        }
        await ChangeNotifier(postgres: postgres).notifyOfEverything()
    }

    /// Gives an account another e-mail.
    ///
    /// - Parameters:
    ///   - selector: The account.
    ///   - email: The new e-mail.
    /// - Throws: `AdministrationError`, `PostgresError`.
    package func changeEmail(of selector: UserSelector, to email: String) async throws {
        let id = try await id(of: selector)
        do {
            guard try await ChangeEmail(users: UserStore(postgres: postgres, notices: notices))(email, ofUser: id)
            else {
                throw AdministrationError.noSuchUser(selector)
            }
        } catch let error as InvalidInput {
            let isTaken = error.validationErrors.contains { $0.reason == .taken }
            throw isTaken ? AdministrationError.emailTaken : .emailRefused
        }
        await ChangeNotifier(postgres: postgres).notifyOfEverything()
    }
}
