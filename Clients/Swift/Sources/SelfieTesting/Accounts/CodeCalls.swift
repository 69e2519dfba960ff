import SelfieClient

/// The calls that send and take codes.
///
/// Without a mail server, there are none.
enum CodeCalls {
    static let routes = [
        Route("POST", "api/request_code", .app(request)),
        Route("POST", "api/recover_password", .app(recoverPassword)),
        Route("POST", "api/set_password", .user(setPassword)),
        Route("POST", "api/change_email", .user(changeEmail)),
        Route("POST", "api/confirm_email", .user(confirmEmail)),
    ]

    private static func requireMail(_ state: ServiceState) throws {
        guard state.settings.sendsMail else { throw ServiceRefusal.wrongURL }
    }

    private static func request(_ state: inout ServiceState, _ request: ServiceRequest) throws -> ServiceAnswer {
        try requireMail(state)
        let parameters = try request.parameters
        let email = try parameters.require("email")
        guard let purpose = Codes.Purpose(rawValue: try parameters.require("purpose")), purpose != .email else {
            throw ServiceRefusal.invalid("purpose")
        }
        if let user = state.accounts.user(email: email) {
            state.codes.send(to: user.email, of: user.id, for: purpose)
        }
        return .message("Code sent, if there is such an account")
    }

    private static func recoverPassword(_ state: inout ServiceState, _ request: ServiceRequest) throws -> ServiceAnswer
    {
        try requireMail(state)
        let parameters = try request.parameters
        let user = state.accounts.user(email: try parameters.require("email"))
        let code = try parameters.require("code")
        let password = state.cipher.decrypt(try parameters.require("new_password"))
        if let error = Accounts.passwordError(password, "password") { throw error }
        _ = try state.codes.use(code, of: user?.id, for: .reset)
        guard let user else { throw ServiceRefusal.tokenInvalid }
        state.accounts[user.id]?.isVerified = true
        return AccountCalls.setPassword(&state, password, user, parameters)
    }

    private static func setPassword(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requireMail(state)
        let parameters = try request.parameters
        let user = try state.user(of: session)
        let code = try parameters.require("code")
        let password = state.cipher.decrypt(try parameters.require("new_password"))
        if let error = Accounts.passwordError(password, "password") { throw error }
        guard user.password == nil else {
            throw ServiceRefusal(
                status: 409,
                code: "password_exists",
                message: "This account has a password already"
            )
        }
        _ = try state.codes.use(code, of: user.id, for: .reset)
        state.accounts[user.id]?.password = password
        return AccountCalls.answer(user, nil)
    }

    private static func changeEmail(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requireMail(state)
        let parameters = try request.parameters
        let email = try parameters.require("email")
        let user = try state.user(of: session)
        try AccountCalls.requireProof(&state, parameters, user)
        if Accounts.comparable(email) != Accounts.comparable(user.email), let error = state.accounts.emailError(email) {
            throw error
        }
        state.codes.send(to: email, of: user.id, for: .email)
        return .message("Code sent")
    }

    private static func confirmEmail(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requireMail(state)
        var user = try state.user(of: session)
        let code = try request.parameters.require("code")
        (user.email, user.isVerified) = (try state.codes.use(code, of: user.id, for: .email), true)
        state.accounts[user.id] = user
        return AccountCalls.answer(user, nil)
    }
}
