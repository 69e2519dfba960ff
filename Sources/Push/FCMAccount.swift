import Cryptography
import FoundationEssentials
import JSON
import OrderedCollections

/// A service account of Google's, which may send pushes (FCM).
///
/// Source: Google, "Using OAuth 2.0 for Server to Server Applications".
package struct FCMAccount: Sendable {
    /// The project that the app belongs to.
    package let projectID: String
    /// The account's name: an address of mail.
    package let email: String
    /// Where access tokens are fetched.
    package let tokenURL: String
    private let keyID: String
    private let key: PrivateKey<RS256>

    /// Why a file is no service account.
    package enum Problem: Error, Equatable {
        case notJSON
        /// It lacks a member.
        case missing(String)
        /// Its key can't be read, or is not RSA.
        case key
    }

    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// Reads the file that Google gives.
    ///
    /// - Parameter json: Its contents.
    /// - Throws: ``Problem``.
    package init(json: String) throws(Problem) {
        guard case .object(let members)? = try? JSONValue.parse(json.utf8) else { throw .notJSON }
        func text(_ name: String) throws(Problem) -> String {
            guard case .string(let text)? = members[name], !text.isEmpty else { throw .missing(name) }
            return text
        }
        projectID = try text("project_id")
        email = try text("client_email")
        tokenURL = try text("token_uri")
        keyID = try text("private_key_id")
        let pem = try text("private_key")
        guard let key = try? PrivateKey<RS256>(pem: Array(pem.utf8)) else { throw .key }
        self.key = key
    }

    /// What is exchanged for an access token; it is valid for an hour.
    ///
    /// - Throws: `CryptographyError`.
    func assertion(at date: Date) throws(CryptographyError) -> String {
        let seconds = Int(date.timeIntervalSince1970)
        return try JSONWebToken.make(
            header: .object(["alg": .string("RS256"), "typ": .string("JWT"), "kid": .string(keyID)]),
            claims: .object([
                "iss": .string(email), "scope": .string(Self.scope), "aud": .string(tokenURL),
                "iat": .number("\(seconds)"), "exp": .number("\(seconds + 3_600)"),
            ]),
            key: key
        )
    }
}
