import SelfieClient

/// The calls that make accounts, begin sessions by a password, and delete accounts.
enum AccountCalls {
    static let routes = [
        Route("POST", "api/signup", .app(signUp)),
        Route("POST", "api/signin", .app(signIn)),
        Route("POST", "api/reset_password", .user(resetPassword)),
        Route("DELETE", "api/account", .user(deleteAccount)),
    ]

    private static let passwordWrong = ServiceRefusal(status: 401, code: "password_wrong", message: "Wrong Password")
    private static let emailOrPasswordWrong = ServiceRefusal(
        status: 401,
        code: "email_or_password_wrong",
        message: "Wrong email or password"
    )

    private static func signUp(_ state: inout ServiceState, _ request: ServiceRequest) throws -> ServiceAnswer {
        let parameters = try request.parameters
        let encrypted = parameters["password"]
        guard encrypted != nil || state.settings.signsUpWithoutPassword else { throw ServiceRefusal.parametersMissing }
        let (email, name) = (try parameters.require("email"), try Self.name(parameters))
        let user = try state.accounts.add(
            email: email,
            firstName: name.first,
            lastName: name.last,
            title: parameters["title"],
            fields: parameters.values["fields"]?.members ?? [:],
            // What can't be decrypted is too short.
            password: encrypted.map { state.cipher.decrypt($0) ?? "" },
            at: state.now
        )
        state.addDefaultRoles(to: user.id)
        if encrypted == nil { state.codes.send(to: user.email, of: user.id, for: .signIn) }
        return answer(user, nil)
    }

    private static func name(_ parameters: RequestParameters) throws -> (first: String, last: String) {
        guard let full = parameters["full_name"] else {
            return (try parameters.require("first_name"), try parameters.require("last_name"))
        }
        let words = full.split(whereSeparator: \.isWhitespace)
        return (String(words.first ?? ""), String(words.last ?? ""))
    }

    private static func signIn(_ state: inout ServiceState, _ request: ServiceRequest) throws -> ServiceAnswer {
        let parameters = try request.parameters
        let found = state.accounts.user(email: try parameters.require("email"))
        if let code = parameters["code"] {
            _ = try state.codes.use(code, of: found?.id, for: .signIn)
        } else {
            let password = state.cipher.decrypt(try parameters.require("password"))
            guard let password, found?.password == password else { throw emailOrPasswordWrong }
        }
        guard let user = found else { throw emailOrPasswordWrong }
        if parameters["code"] != nil { state.accounts[user.id]?.isVerified = true }
        return begin(&state, user, parameters, isRemembered: try parameters.flag("remember"))
    }

    /// Begins a session.
    static func begin(
        _ state: inout ServiceState,
        _ user: User,
        _ parameters: RequestParameters,
        isRemembered: Bool = false
    ) -> ServiceAnswer {
        let device = parameters["device"]
        return answer(
            user,
            state.sessions.begin(user.id, device: device, isRemembered: isRemembered, at: state.now)
        )
    }

    /// An account, with the token of a new session.
    static func answer(_ user: User, _ session: Session?) -> ServiceAnswer {
        let token: [String: JSONValue] = [
            "api_authtoken": JSONValue(session?.token), "authtoken_expiry": JSONValue(session?.expiresAt),
        ]
        return .json(.object(user.json.merging(token) { $1 }), headers: ["Cache-Control": "no-store"])
    }

    private static func resetPassword(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let parameters = try request.parameters
        let old = state.cipher.decrypt(try parameters.require("old_password"))
        let new = state.cipher.decrypt(try parameters.require("new_password"))
        let user = try state.user(of: session)
        guard let old, user.password == old else { throw passwordWrong }
        if let error = Accounts.passwordError(new, "password") { throw error }
        return setPassword(&state, new, user, parameters, isRemembered: session.isRemembered)
    }

    /// Sets a password, ends all sessions and URLs of photos, and begins a session.
    static func setPassword(
        _ state: inout ServiceState,
        _ password: String?,
        _ user: User,
        _ parameters: RequestParameters,
        isRemembered: Bool = false
    ) -> ServiceAnswer {
        state.accounts[user.id]?.password = password
        state.endSessions { $0.userID == user.id }
        state.photoURLs.end(of: user.id)
        return begin(&state, user, parameters, isRemembered: isRemembered)
    }

    /// Requires the password, or a code for signing in.
    static func requireProof(_ state: inout ServiceState, _ parameters: RequestParameters, _ user: User) throws {
        if let code = parameters["code"] {
            _ = try state.codes.use(code, of: user.id, for: .signIn)
        } else {
            let password = state.cipher.decrypt(try parameters.require("password"))
            guard let password, password == user.password else { throw passwordWrong }
        }
    }

    private static func deleteAccount(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let user = try state.user(of: session)
        try requireProof(&state, try request.parameters, user)
        state.deleteAccount(user)
        return .message("Account deleted")
    }
}

extension ServiceState {
    /// The user of a session.
    func user(of session: Session) throws(ServiceRefusal) -> User {
        guard let user = accounts[session.userID] else { throw .tokenInvalid }
        return user
    }

    /// Deletes an account with all that it owns.
    mutating func deleteAccount(_ user: User) {
        endSessions { $0.userID == user.id }
        subscriptions.remove(of: user.id)
        deleteRecords(ownedBy: user.id)
        for photo in photos.all where photo.ownerID == user.id { deletePhoto(photo.id) }
        photoURLs.end(of: user.id)
        grants.removeReader(user.id)
        accounts[user.id] = nil
    }
}
