import Cryptography
import Hummingbird
import SelfieAccounts

/// Lets clients with the API's credential through, by HTTP Basic.
struct BasicMiddleware: ServiceMiddleware {
    private let nameDigest: SHA256Digest
    private let passwordDigest: SHA256Digest
    private let isSame: @Sendable (SHA256Digest, SHA256Digest) -> Bool

    /// `isSame` compares two digests.
    ///
    /// The default does so in constant time.
    init(
        credential: APICredential,
        isSame: @escaping @Sendable (SHA256Digest, SHA256Digest) -> Bool = { $0 == $1 }
    ) {
        self.isSame = isSame
        nameDigest = SHA256.hash(Array(credential.name.utf8))
        passwordDigest = SHA256.hash(Array(credential.password.utf8))
    }

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let header = request.headers[.authorization], accepts(header) else {
            throw ServiceError.basicAccessDenied
        }
        return try await next(request, context)
    }

    /// Digests have one length, so the time of their comparison reveals nothing.
    ///
    /// Both halves are always compared.
    func accepts(_ header: String) -> Bool {
        guard let (name, password) = AuthorizationHeader.basicCredential(in: header) else { return false }
        let isName = isSame(SHA256.hash(Array(name.utf8)), nameDigest)
        let isPassword = isSame(SHA256.hash(Array(password.utf8)), passwordDigest)
        return [isName, isPassword].allSatisfy { $0 }
    }
}
