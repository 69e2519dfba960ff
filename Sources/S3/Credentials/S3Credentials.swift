package import FoundationEssentials

/// The key pair that signs requests.
///
/// Temporary keys have a session token and an end.
///
/// Printing, dumping or reflecting a value of this type shows none of it.
package struct S3Credentials: Sendable, Hashable {
    let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?
    /// When temporary keys end.
    ///
    /// Presigned URLs end with them. Nil for long-lived keys.
    package let expiration: Date?

    /// Takes the keys as the store issued them.
    ///
    /// A stray line break from an environment file is refused here, where it can be named. Otherwise the store would
    /// say that the signature does not match.
    ///
    /// - Parameters:
    ///   - accessKeyID: the public half: visible ASCII, not empty.
    ///   - secretAccessKey: the secret half: visible ASCII, not empty.
    ///   - sessionToken: visible ASCII; only temporary keys have one.
    ///   - expiration: when temporary keys end.
    /// - Throws: ``S3ConfigurationError/accessKeyID``, ``S3ConfigurationError/secretAccessKey`` or
    ///   ``S3ConfigurationError/sessionToken``, without the value.
    package init(
        accessKeyID: String,
        secretAccessKey: String,
        sessionToken: String? = nil,
        expiration: Date? = nil
    ) throws(S3ConfigurationError) {
        let errors = Self.errors(
            accessKeyID: accessKeyID,
            secretAccessKey: secretAccessKey,
            sessionToken: sessionToken
        )
        if let error = errors.first { throw error }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expiration = expiration
    }

    /// All errors in the keys, to report them together.
    ///
    /// - Parameters:
    ///   - accessKeyID: the public half.
    ///   - secretAccessKey: the secret half.
    ///   - sessionToken: of temporary keys.
    /// - Returns: a case for each bad one, without the value.
    package static func errors(
        accessKeyID: String,
        secretAccessKey: String,
        sessionToken: String?
    ) -> [S3ConfigurationError] {
        [(accessKeyID, .accessKeyID), (secretAccessKey, .secretAccessKey), (sessionToken, .sessionToken)]
            .compactMap { text, error in text.map(isVisibleASCII) == false ? error : nil }
    }

    private static func isVisibleASCII(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Only the type's name.
    package var description: String { "S3Credentials(redacted)" }

    /// Only the type's name.
    package var debugDescription: String { description }

    /// A mirror without children, so that `dump` and reflecting loggers find nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
