import S3
import SelfieConfiguration

extension ServiceConfiguration.Bucket {
    /// Why a step failed, in the store's words, and what to do about it.
    ///
    /// It does no I/O.
    ///
    /// - Parameters:
    ///   - error: The client's error.
    ///   - step: The step that was tried.
    ///   - secrets: What must not be shown.
    /// - Returns: The diagnosis.
    func diagnosis(of error: S3Error, at step: BucketStep, secrets: Secrets) -> Diagnosis {
        switch error {
        case .notFound(let failure), .refused(let failure), .unavailable(let failure):
            if let network = failure.cause.flatMap({ NetworkFailure($0) }) {
                return network.diagnosis(url: configuration.url())
            }
            return Diagnosis(
                cause: "\(step.name) failed: \(secrets.hidden(in: "\(failure)"))",
                remedy: remedy(for: failure, at: step)
            )
        case .noCredentials(let error):
            return Diagnosis(
                cause: "there are no keys for the bucket: \(secrets.hidden(in: "\(error)"))",
                remedy: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. See docs/configuration.md#keys-of-the-bucket."
            )
        case .source, .invalidArgument, .cancelled:
            return Diagnosis(cause: "\(step.name) failed (\(error))", remedy: "Run selfie doctor again.")
        }
    }

    private func remedy(for failure: S3Failure, at step: BucketStep) -> String {
        if case S3NoAnswer.otherBytes? = failure.cause { return Self.changedBytes }
        let byCode = failure.code.flatMap { remedy(for: $0, of: failure, at: step) }
        // With 400, a code that is not known says more than the status.
        let status = failure.status.flatMap { $0 == 400 && failure.code != nil ? nil : "\($0)" }
        return byCode ?? status.flatMap { remedy(for: $0, of: failure, at: step) }
            ?? "See docs/stores.md#errors, or the store's own documentation."
    }

    private static let changedBytes = "Let no proxy or cache change what passes. See docs/stores.md#errors."

    /// What to do about an error; nil for a code or a status that is not known.
    ///
    /// Source of the codes: AWS, "Error responses", list of error codes; MinIO, Ceph and Cloudflare R2 use the same.
    private func remedy(for code: String, of failure: S3Failure, at step: BucketStep) -> String? {
        switch code {
        case "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidSecurity", "ExpiredToken", "InvalidToken",
            "TokenRefreshRequired":
            credentials.origin == .fixed
                ? "Set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN again. See docs/stores.md#errors."
                : "The keys come from \(credentials.origin). See docs/stores.md#errors."
        case "AccessDenied", "AllAccessDisabled", "AccessForbidden", "Unauthorized", "401", "403":
            "Give the keys \(step.permission), and check S3_BUCKET_NAME. See docs/stores.md#permissions."
        case "PermanentRedirect", "TemporaryRedirect", "Redirect", "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException", "InvalidRegion", "InvalidLocationConstraint", "301", "302",
            "307", "308":
            "Set AWS_REGION=\(failure.bucketRegion ?? "…"), the bucket's region. See docs/stores.md#settings."
        case "NoSuchBucket": "Check S3_BUCKET_NAME, AWS_REGION and AWS_ENDPOINT_URL_S3, or make the bucket."
        case "RequestTimeTooSkewed", "RequestExpired": Findings.clockRemedy
        case "XAmzContentSHA256Mismatch", "BadDigest", "IncompleteBody": Self.changedBytes
        case "SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "OperationAborted",
            "TooManyRequests", "429", "500", "502", "503", "504":
            "Run selfie doctor again in a minute. If that does not help, see the store's status."
        case "NoSuchKey", "404":
            [.list, .make, .put, .beginUpload].contains(step)
                ? "Set AWS_ENDPOINT_URL_S3 to the store's S3 interface, not to its web console."
                : "Look for a rule of the bucket that deletes new objects, or for a cache in between."
        case "400": "Check AWS_ENDPOINT_URL_S3: the port, and http:// or https://."
        // Often sent with 403, and not about permissions.
        case "NotSignedUp", "AccountProblem", "UserSuspended", "QuotaExceeded", "InvalidObjectState":
            "See docs/stores.md#errors."
        default: nil
        }
    }
}
