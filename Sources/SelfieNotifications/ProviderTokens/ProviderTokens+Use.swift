extension ProviderTokens {
    /// Makes a call with a token, and again with a new one when the provider calls it expired.
    ///
    /// - Parameters:
    ///   - issuer: The provider.
    ///   - call: Makes the call, and says whether the token was called expired.
    /// - Returns: What the last call has returned.
    /// - Throws: ``NotYet``, `PostgresError`, or what the call or making a token throws.
    func use<Answer>(
        _ issuer: Issuer,
        _ call: (_ token: String) async throws -> (answer: Answer, isExpired: Bool)
    ) async throws -> Answer {
        let token = try await token(of: issuer)
        let first = try await call(token)
        guard first.isExpired else { return first.answer }
        return try await call(try await self.token(of: issuer, insteadOf: token)).answer
    }
}
