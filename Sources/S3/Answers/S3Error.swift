import Curl
package import NIOCore
package import NIOHTTP1

/// How a call to the store can fail.
///
/// No description of it holds a key, a signature, an `Authorization` header or a presigned URL.
package enum S3Error: Error {
    /// The store has no such object or bucket (404); the failure's `code` says which.
    case notFound(S3Failure)
    /// The store refused (3xx, 4xx), and would refuse the same call again.
    case refused(S3Failure)
    /// The store could not be reached, did not answer in time, or answered 429 or 5xx. It may work later.
    case unavailable(S3Failure)
    /// The body to put could not be read, or has another length than it said; the store is not at fault.
    case source(any Error)
    /// There are no keys to sign with; nothing was sent.
    case noCredentials(S3CredentialError)
    /// An argument breaks a limit; nothing was sent.
    case invalidArgument(S3InvalidArgument)
    /// The task was cancelled.
    case cancelled
}

/// Which argument of a call breaks which limit.
package enum S3InvalidArgument: Error, Hashable {
    /// The key is empty or longer than ``S3Client/maxKeyBytes``.
    case key
    /// There are more than ``S3Client/maxPageCount`` keys.
    case keyCount
    /// The content type is empty or has a control character.
    case contentType
    /// The range is negative or empty.
    case range
    /// The expiry lies outside 1 to ``Signer/maxExpirySeconds`` seconds.
    case expiry
}

extension S3Error: CustomStringConvertible {
    /// One line for a log.
    package var description: String {
        switch self {
        case .notFound(let failure): "S3: not found: \(failure)"
        case .refused(let failure): "S3: refused: \(failure)"
        case .unavailable(let failure): "S3: unavailable: \(failure)"
        case .source(let error): "S3: the body to put could not be read: \(error)"
        case .noCredentials(let error): "S3: no credentials: \(error)"
        case .invalidArgument(let argument): "S3: the \(argument) is outside its limits"
        case .cancelled: "S3: cancelled"
        }
    }
}

extension S3Error {
    /// Takes the reason why an attempt got no answer, or not all of it.
    init(_ failure: CurlFailure, hasLargeBody: Bool) {
        switch failure.reason {
        case .cancelled: self = .cancelled
        case .source(let error): self = .source(error)
        case .silent, .overdue, .notHTTP: self = .unavailable(S3Failure(cause: S3NoAnswer(failure.reason)))
        case let reason where hasLargeBody && failure.hasSentBody:
            self = .unavailable(S3Failure(brokenOffBy: reason, lastSignOfLife: failure.lastProgress))
        case let reason: self = .unavailable(S3Failure(cause: reason))
        }
    }

    /// Takes the reason why a request could not be signed.
    init(_ error: S3CredentialError) {
        self = error == .cancelled ? .cancelled : .noCredentials(error)
    }

    /// Sorts an answer that is no success into the cases.
    init(_ failure: S3Failure) {
        let status = failure.status ?? 0
        let isPassing = status == 429 || status >= 500 || Self.passingCodes.contains(failure.code ?? "")
        if isPassing {
            self = .unavailable(failure)
        } else if status == 404 {
            self = .notFound(failure)
        } else {
            self = .refused(failure)
        }
    }

    /// Reads the store's refusal of a request that this client did not send.
    ///
    /// - Parameters:
    ///   - status: Any status but 2xx.
    ///   - headers: The answer's.
    ///   - body: The answer's body, as far as it came.
    package init(status: HTTPResponseStatus, headers: HTTPHeaders, body: ByteBuffer) {
        self.init(S3Failure(status: status, headers: headers, document: ErrorDocument(body)))
    }

    /// Takes the reason why a request that this client did not send got no answer.
    ///
    /// - Parameter cause: What the HTTP client threw.
    /// - Returns: ``unavailable(_:)``.
    package static func unanswered(_ cause: any Error) -> S3Error { .unavailable(S3Failure(cause: cause)) }

    /// Codes that some stores send with a 4xx although another attempt may succeed.
    ///
    /// Source: AWS, "Error responses", list of error codes.
    private static let passingCodes: Set<String> = [
        "InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown",
    ]

    /// Whether the same call may succeed when it is tried again at once.
    var isRetryable: Bool {
        guard case .unavailable(let failure) = self else { return false }
        return failure.status != 501 && failure.status != 505
    }

    /// When the store last took or sent a byte; nil when it gave no sign of life that counts.
    ///
    /// A store is alive when it answered, or took a part of a large body.
    var lastSignOfLife: ContinuousClock.Instant? {
        guard case .unavailable(let failure) = self else { return nil }
        return failure.lastSignOfLife
    }

    /// Whether the store does not know such a call at all.
    var isUnknownCall: Bool {
        switch self {
        case .refused(let failure), .unavailable(let failure): [405, 501].contains(failure.status)
        default: false
        }
    }

    /// The details of the failure; nil when the store did not cause it.
    var failure: S3Failure? {
        switch self {
        case .notFound(let failure), .refused(let failure), .unavailable(let failure): failure
        default: nil
        }
    }

    /// Whether the store does not let these keys do this.
    package var isDenial: Bool {
        guard case .refused(let failure) = self, [nil, 401, 403].contains(failure.status) else { return false }
        return failure.code.map(Self.denialCodes.contains) ?? (failure.status != nil)
    }

    private static let denialCodes: Set<String> = [
        "AccessDenied", "AllAccessDisabled", "AccessForbidden", "Unauthorized",
    ]
    /// Codes of 400 that are about the keys or the signature, and not about the call.
    private static let keyCodes: Set<String> = [
        "AuthorizationHeaderMalformed", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed", "TokenRefreshRequired",
    ]

    /// Whether the store lacks such a call: it says so, or answers with something else.
    var isOfMissingCall: Bool {
        if isUnknownCall { return true }
        switch self {
        case .notFound: return !isMissingBucket
        case .refused(let failure): return failure.status == 400 && !Self.keyCodes.contains(failure.code ?? "")
        case .unavailable(let failure): return failure.cause as? S3NoAnswer == .malformed
        default: return false
        }
    }

    /// Whether the bucket is missing.
    package var isMissingBucket: Bool {
        guard case .notFound(let failure) = self else { return false }
        return failure.code == "NoSuchBucket"
    }
}
