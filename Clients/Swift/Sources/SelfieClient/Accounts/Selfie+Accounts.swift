extension Selfie {
    /// Creates an account.
    ///
    /// The user is not signed in by it.
    ///
    /// - Parameters:
    ///   - email: The address.
    ///   - password: 6 characters to 72 bytes; nil if the service lets users in by codes alone. It sends one then.
    ///   - firstName: At most 255 characters.
    ///   - lastName: At most 255 characters.
    ///   - title: What is shown with the name.
    ///   - fields: Data of the app's own, up to 8 KiB.
    /// - Returns: The account.
    /// - Throws: ``SelfieError/invalid(_:)`` with the code `email_taken`, for example.
    @discardableResult
    public func signUp(
        email: String,
        password: String?,
        firstName: String,
        lastName: String,
        title: String? = nil,
        fields: [String: JSONValue]? = nil
    ) async throws -> Account {
        struct Body: Encodable {
            let email, firstName, lastName: String
            let password, title: String?
            let fields: [String: JSONValue]?

            enum CodingKeys: String, CodingKey {
                case email, password, title, fields
                case firstName = "first_name"
                case lastName = "last_name"
            }
        }
        var call = Call("POST", api.url(["signup"]))
        call.authentication = .app
        try call.send(
            Body(
                email: email,
                firstName: firstName,
                lastName: lastName,
                password: try password.map(api.cipher.encrypt),
                title: title,
                fields: fields
            )
        )
        return try await api.send(call, as: AccountAnswer.self).account
    }

    /// Signs a user in.
    ///
    /// - Parameters:
    ///   - email: The address.
    ///   - password: The password.
    ///   - isRemembered: Whether the session lasts until it is ended, or was not used for 90 days; else for a day.
    /// - Returns: The account.
    /// - Throws: ``SelfieError/emailOrPasswordWrong``; ``SelfieError/emailUnverified`` if the service lets in nobody without a
    ///   verified address.
    @discardableResult
    public func signIn(email: String, password: String, isRemembered: Bool = true) async throws -> Account {
        try await signIn(
            SignIn(
                email: email,
                password: try api.cipher.encrypt(password),
                remember: isRemembered,
                device: api.configuration.deviceName
            )
        )
    }

    /// Signs a user in by a code that ``requestCode(email:for:)`` has sent.
    ///
    /// - Parameters:
    ///   - email: The address.
    ///   - code: Six digits.
    ///   - isRemembered: Whether the session lasts until it is ended, or was not used for 90 days; else for a day.
    /// - Returns: The account.
    /// - Throws: ``SelfieError/codeWrong``.
    @discardableResult
    public func signIn(email: String, code: String, isRemembered: Bool = true) async throws -> Account {
        try await signIn(
            SignIn(email: email, code: code, remember: isRemembered, device: api.configuration.deviceName)
        )
    }

    private struct SignIn: Encodable {
        var email: String
        var password: String?
        var code: String?
        var remember: Bool
        var device: String?
    }

    private func signIn(_ body: SignIn) async throws -> Account {
        var call = Call("POST", api.url(["signin"]))
        call.authentication = .app
        try call.send(body)
        return try await begin(try await api.send(call))
    }

    /// Begins a session by an answer that has a token.
    private func begin(_ answer: AccountAnswer) async throws -> Account {
        guard let token = answer.token else { throw SelfieError.unexpectedAnswer(status: 200) }
        api.folders.removeDeletion(of: answer.id)
        try api.sessions.begin(Session(token: token, userID: answer.id))
        await sessionFollower.catchUp()
        return answer.account
    }

    /// Has a code sent to an address, if there is such an account.
    ///
    /// It replaces the code before for the same purpose, also that of a sign-up. The answer does not tell whether there is one.
    ///
    /// - Parameters:
    ///   - email: The address.
    ///   - purpose: What the code is for.
    /// - Throws: ``SelfieError/notFound(_:)`` if the service sends no mails.
    public func requestCode(email: String, for purpose: CodePurpose) async throws {
        var call = Call("POST", api.url(["request_code"]))
        call.authentication = .app
        try call.send(["email": email, "purpose": purpose.rawValue])
        try await api.send(call)
    }

    /// Sets a new password by a code for ``CodePurpose/reset``, and signs the user in.
    ///
    /// All other sessions end.
    ///
    /// - Parameters:
    ///   - email: The address.
    ///   - code: Six digits.
    ///   - newPassword: 6 characters to 72 bytes.
    /// - Returns: The account.
    /// - Throws: ``SelfieError/codeWrong``.
    @discardableResult
    public func recoverPassword(email: String, code: String, newPassword: String) async throws -> Account {
        var call = Call("POST", api.url(["recover_password"]))
        call.authentication = .app
        var body = ["email": email, "code": code, "new_password": try api.cipher.encrypt(newPassword)]
        body["device"] = api.configuration.deviceName
        try call.send(body)
        return try await begin(try await api.send(call))
    }

    /// Replaces the password.
    ///
    /// All other sessions end, and URLs of photos, too.
    ///
    /// Devices are registered for pushes by the session, so register this one again.
    ///
    /// - Parameters:
    ///   - old: The present password.
    ///   - new: 6 characters to 72 bytes.
    /// - Throws: ``SelfieError/passwordWrong``.
    public func changePassword(from old: String, to new: String) async throws {
        let session = try api.sessions.currentIfSignedIn()
        var call = Call("POST", api.url(["reset_password"]))
        call.authentication = .userWithID(session.userID)
        var body = ["old_password": try api.cipher.encrypt(old), "new_password": try api.cipher.encrypt(new)]
        body["device"] = api.configuration.deviceName
        try call.send(body)
        let change = call
        try await api.sessions.replace(session) {
            let answer: AccountAnswer = try await api.send(change)
            guard let token = answer.token else { throw SelfieError.unexpectedAnswer(status: 200) }
            return Session(token: token, userID: answer.id)
        }
        await sessionFollower.catchUp()
    }

    /// Sets the first password of an account without one.
    ///
    /// - Parameters:
    ///   - password: 6 characters to 72 bytes.
    ///   - code: A code for ``CodePurpose/reset``.
    /// - Throws: ``SelfieError/codeWrong``.
    public func setPassword(_ password: String, code: String) async throws {
        var call = Call("POST", api.url(["set_password"]))
        try call.send(["new_password": try api.cipher.encrypt(password), "code": code])
        try await api.send(call)
    }

    /// Has a code sent to a new address.
    ///
    /// The old one holds until ``confirmEmail(code:)``.
    ///
    /// - Parameters:
    ///   - email: The new address.
    ///   - proof: The password or a code.
    /// - Throws: ``SelfieError/passwordWrong``.
    public func changeEmail(to email: String, proof: Proof) async throws {
        var call = Call("POST", api.url(["change_email"]))
        try call.send(try parameters(of: proof).merging(["email": email]) { $1 })
        try await api.send(call)
    }

    /// Makes the new address the account's, by the code that was sent there.
    ///
    /// - Throws: ``SelfieError/codeWrong``.
    @discardableResult
    public func confirmEmail(code: String) async throws -> Account {
        var call = Call("POST", api.url(["confirm_email"]))
        try call.send(["code": code])
        return try await api.send(call, as: AccountAnswer.self).account
    }

    /// Deletes the account with all that it owns.
    ///
    /// The client's copies go as well, and what waits in the outbox. If the answer is lost, they go as soon as the service says
    /// that it does not know the session any more, whatever the reason. If the app signs out before that, what waits in the
    /// outbox stays.
    ///
    /// - Throws: ``SelfieError/passwordWrong``; ``SelfieError/interrupted`` when it is not known whether it was done.
    public func deleteAccount(proof: Proof) async throws {
        let session = try api.sessions.currentIfSignedIn()
        var call = Call("DELETE", api.url(["account"]))
        (call.authentication, call.isRepeatable) = (.userWithID(session.userID), false)
        try call.send(try parameters(of: proof))
        let deletion = call
        var mayBeDeleted = false
        do {
            // The mark is set before the end is told, also if another call hears of it first.
            try await api.sessions.holdEnd(of: session) {
                do {
                    _ = try await api.sendNotingFailure(deletion)
                } catch let failure as APIClient.FailedCall where failure.error == .notSignedIn {
                    mayBeDeleted = api.folders.hasDeletionMark(session.userID)
                    throw failure
                } catch let failure as APIClient.FailedCall where failure.mayBeDone {
                    // Without it, the outbox is left. That harms nobody.
                    try? api.folders.setDeletionMark(session.userID)
                    throw failure
                }
                // The app may end before the outbox is removed.
                try? api.folders.setDeletionMark(session.userID)
                try? api.folders.confirmDeletion(session.userID)
            }
        } catch let failure as APIClient.FailedCall {
            if [.passwordWrong, .codeWrong].contains(failure.error) {
                api.folders.removeDeletionMark(session.userID)
            } else if failure.error == .notSignedIn, mayBeDeleted {
                await sessionFollower.catchUp()
                // An earlier call has done it, and the outbox is gone.
                if try api.sessions.current() == nil, !api.folders.hasDeletionMark(session.userID) { return }
            }
            throw failure.error
        }
        // The session ends first, so that nothing is added meanwhile.
        if let present = try? api.sessions.current(), present.userID == session.userID { await end(present) }
        await outbox.removeAll(of: session.userID)
        api.folders.removeDeletionMark(session.userID)
    }

    private func parameters(of proof: Proof) throws -> [String: String] {
        switch proof {
        case .password(let password): ["password": try api.cipher.encrypt(password)]
        case .code(let code): ["code": code]
        }
    }
}
