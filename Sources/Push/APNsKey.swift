package import Cryptography
package import FoundationEssentials
import JSON
import OrderedCollections

/// A key of Apple's push service (APNs), which makes provider tokens.
///
/// Source: Apple, "Establishing a token-based connection to APNs".
package struct APNsKey: Sendable {
    /// Ten characters.
    package let id: String
    /// Ten characters.
    ///
    /// Apple counts the tokens of a team.
    package let teamID: String
    private let key: PrivateKey<ES256>

    /// - Parameters:
    ///   - pem: The contents of the file that Apple gives, `AuthKey_<id>.p8`.
    ///   - id: The key's id.
    ///   - teamID: The team's id.
    /// - Throws: `CryptographyError` when it is no private key for ES256.
    package init(pem: String, id: String, teamID: String) throws(CryptographyError) {
        key = try PrivateKey(pem: Array(pem.utf8))
        (self.id, self.teamID) = (id, teamID)
    }

    /// A token for the header `authorization`, which is valid for an hour.
    ///
    /// - Throws: `CryptographyError`.
    package func token(at date: Date) throws(CryptographyError) -> String {
        try JSONWebToken.make(
            header: .object(["alg": .string("ES256"), "kid": .string(id)]),
            claims: .object(["iss": .string(teamID), "iat": .number("\(Int(date.timeIntervalSince1970))")]),
            key: key
        )
    }
}
