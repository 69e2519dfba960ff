/// Why there are no credentials to sign with.
///
/// It never holds a key, a token or a source's answer.
package enum S3CredentialError: Error, Hashable {
    /// The source gave none. It may do so later.
    case failed(S3CredentialOrigin, S3CredentialFailure)
    /// The store says that the credentials have ended, and their source has no others.
    case notReplaced(S3CredentialOrigin)
    /// The task that waited for them was cancelled.
    case cancelled
}

/// A failure to get temporary credentials from their source.
package enum S3CredentialFailure: Error, Hashable {
    /// It answered with this HTTP status.
    case status(Int)
    /// It could not be reached, in the network's own words.
    case unreachable(String)
    /// It gave no whole answer in time.
    case silent
    /// It answered with more than ``S3CredentialDeadlines/maxAnswerBytes``.
    case tooLarge
    /// It answered with something else than credentials.
    case malformed
    /// The metadata service answered with this `Code` instead of `Success`.
    case unsuccessful(code: String)
    /// The instance has no role.
    case noRole
    /// The file with the token for the container's endpoint can't be read.
    case tokenFileUnreadable(path: String)
    /// The file with the token holds no token, or a line break, or a character that no header can hold.
    case tokenMalformed(path: String)
}

extension S3CredentialFailure {
    /// Whether asking again in a moment may help.
    var isPassing: Bool {
        switch self {
        case .status(let status): status == 429 || status >= 500
        case .unreachable, .silent: true
        case .tooLarge, .malformed, .unsuccessful, .noRole, .tokenFileUnreadable, .tokenMalformed: false
        }
    }
}

extension S3CredentialFailure: CustomStringConvertible {
    /// What happened, as the end of a sentence.
    package var description: String {
        switch self {
        case .status(let status): "it answered with status \(status)"
        case .unreachable(let cause): "it can't be reached (\(cause))"
        case .silent: "it did not answer in time"
        case .tooLarge: "it answered with far more than credentials"
        case .malformed: "it answered with something else than credentials"
        case .unsuccessful(let code): "it has none to give (\(code))"
        case .noRole: "the instance has no role"
        case .tokenFileUnreadable(let path): "the file with its token, \(path), can't be read"
        case .tokenMalformed(let path):
            "the file with its token, \(path), does not hold a token in one line"
        }
    }
}

extension S3CredentialError: CustomStringConvertible {
    /// One line for a log.
    package var description: String {
        switch self {
        case .failed(.instance, .silent):
            "\(S3CredentialOrigin.instance) gave no credentials: \(S3CredentialFailure.silent); inside a container its hop "
                + "limit must be 2 or more"
        case .failed(let origin, let failure): "\(origin) gave no credentials: \(failure)"
        case .notReplaced(let origin): "the store refuses the credentials as ended, and \(origin) gives no others"
        case .cancelled: "the request for credentials was cancelled"
        }
    }
}

extension S3CredentialOrigin: CustomStringConvertible {
    /// Its usual name.
    package var description: String {
        switch self {
        case .fixed: "the configuration"
        case .webIdentity: "AWS's Security Token Service"
        case .container: "the container's credentials endpoint"
        case .instance: "the EC2 metadata service"
        }
    }
}
