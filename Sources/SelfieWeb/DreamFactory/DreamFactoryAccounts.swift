import Encodings
import FoundationEssentials
import Hummingbird
import JSON
import NIOCore
import OrderedCollections
import SelfieAccounts
import SelfieConfiguration
import SelfieCore

/// Accounts and sessions, as clients of DreamFactory know them.
///
/// Passwords come in the clear. So they are taken over TLS only, or from this machine.
struct DreamFactoryAccounts: Sendable {
    private let parts: WebParts

    static let tlsRequired = ServiceError(
        status: .forbidden,
        code: "tls_required",
        message: "Passwords are not encrypted in this call. Please use https"
    )

    init(_ parts: WebParts) { self.parts = parts }

    private static let names = ParameterNames(
        all: [
            Endpoint.Parameter.email, .firstName, .lastName, .displayName, .typedChangedPassword, .typedPassword,
            .codeOrPassword,
        ].map(\.name) + [Endpoint.Parameter.login.name, Endpoint.Parameter.applicationName.name],
        required: [Endpoint.Parameter.email.name]
    )

    /// Makes an account, and perhaps begins a session.
    ///
    /// - Returns: The new session; nil for none.
    /// - Throws: `ServiceError`, or what the use cases throw.
    func register(
        _ request: Request,
        _ context: ServiceRequestContext
    ) async throws -> (user: User, issued: IssuedToken)? {
        let parameters = try await parameters(request, context)
        let (begins, device) = (try parameters.flag(.login), try device(parameters, request))
        let sent = try parameters.optional(.typedChangedPassword) ?? parameters.optional(.typedPassword)
        guard sent != nil || parts.settings.signsUpWithoutPassword else {
            throw parameters.missing([Endpoint.Parameter.typedChangedPassword.name])
        }
        let password = sent.map(Password.init)
        let email = try parameters.require(.email)
        let source = parts.sources.source(of: request, context: context)
        _ = try await parts.useCases.accounts.signUp(
            name: try name(parameters),
            email: email,
            password: password.map { .password($0) } ?? .none,
            from: source
        )
        guard begins, let password else { return nil }
        // The account is there, whatever becomes of the session.
        return try? await signIn(
            SignInAttempt(
                email: email,
                proof: .password(password),
                device: device,
                source: source,
                isRemembered: false,
                changesNothing: false
            ),
            context
        )
    }

    /// Begins a session.
    ///
    /// - Throws: `ServiceError`, or what the use cases throw.
    func signIn(
        _ request: Request,
        _ context: ServiceRequestContext
    ) async throws -> (user: User, issued: IssuedToken) {
        let parameters = try await parameters(request, context)
        let device = try device(parameters, request)
        let code = parts.settings.mail == nil ? nil : try parameters.optional(.codeOrPassword)
        let password = try parameters.optional(.typedPassword).map(Password.init)
        let email = try parameters.require(.email)
        let proof: SignInAttempt.Proof
        switch (password, code) {
        case (let password?, let code?): proof = .passwordAndCode(password, code)
        case (nil, let code?): proof = .code(code)
        case (let password?, nil): proof = .password(password)
        case (nil, nil): throw parameters.missing([Endpoint.Parameter.typedPassword.name])
        }
        return try await signIn(
            SignInAttempt(
                email: email,
                proof: proof,
                device: device,
                source: parts.sources.source(of: request, context: context),
                isRemembered: false,
                changesNothing: false
            ),
            context
        )
    }

    private func signIn(
        _ attempt: SignInAttempt,
        _ context: ServiceRequestContext
    ) async throws -> (user: User, issued: IssuedToken) {
        guard let (user, issued) = try await parts.useCases.accounts.signIn(attempt) else {
            throw AccountRequests.wrongCredentials
        }
        context.notes.note(userID: user.id)
        return (user, issued)
    }

    // MARK: Requests

    /// Reads the query and a body of JSON, whatever the request calls it.
    private func parameters(
        _ request: Request,
        _ context: ServiceRequestContext
    ) async throws -> RequestParameters {
        let isPrivate = DreamFactoryRequest.isPrivate(
            request.headers,
            socket: context.channel.remoteAddress,
            hasProxy: parts.settings.trustedProxies.count > 0
        )
        guard isPrivate else { throw Self.tlsRequired }
        let body = try await request.collectedBody(maxBytes: RequestParameters.maxBodyBytes, context: context)
        guard case .object(let members) = try DreamFactoryCall.value(Array(body.readableBytesView)) ?? [:] else {
            throw ServiceError.jsonNotAnObject
        }
        var texts: [String: String] = [:]
        for (name, value) in members {
            switch value {
            case .string(let text), .number(let text): texts[Self.synonyms[name] ?? name] = text
            case .boolean, .array, .object, .null: break
            }
        }
        return RequestParameters(
            // A password in a query would be in the logs of proxies.
            query: try FormParameters.parse(Array((request.uri.query ?? "").utf8)).filter {
                [Endpoint.Parameter.login.name, Endpoint.Parameter.applicationName.name].contains($0.key)
            },
            body: texts,
            names: Self.names
        )
    }

    /// Older clients name the address so.
    private static let synonyms = ["username": "email", "userName": "email"]

    private func name(_ parameters: RequestParameters) throws(ServiceError) -> NewName {
        if let first = try parameters.optional(.firstName), let last = try parameters.optional(.lastName) {
            return .parts(first: first, last: last)
        }
        guard let whole = try parameters.optional(.displayName) else {
            throw parameters.missing([Endpoint.Parameter.firstName.name, Endpoint.Parameter.lastName.name])
        }
        return .full(whole)
    }

    /// The label of a session: the application's name, or the `User-Agent`.
    private func device(_ parameters: RequestParameters, _ request: Request) throws(ServiceError) -> String? {
        let header = DreamFactoryRequest.applicationName.flatMap { request.headers[$0] }
        let name = try parameters.text(.applicationName) ?? header
        return DeviceLabel.of(userAgent: name) ?? DeviceLabel.of(userAgent: request.headers[.userAgent])
    }
}
