import S3

/// The kinds of errors that people see with a bucket.
enum S3Trouble: Sendable, CaseIterable {
    case wrongSecret, unknownKey, denied, noBucket, elsewhere, unknownRegion, clock, ended, badName, takenName
    case account, encryption, full, archived, changedOnTheWay, unknownCall, busy, wrongScheme, noObject

    /// Sorts by code, or by status if there is no code.
    ///
    /// Nil for an unknown error.
    init?(_ failure: S3Failure) {
        if let kind = failure.code.flatMap(Self.kind(code:)) {
            self = kind
            return
        }
        switch failure.status {
        case 301, 302, 307, 308: self = .elsewhere
        case 400 where failure.code == nil: self = .wrongScheme
        case 401, 403: self = .denied
        case 404: self = .noObject
        case 405, 501: self = .unknownCall
        case 507: self = .full
        case 429, 500, 502, 503, 504: self = .busy
        default: return nil
        }
    }

    private static func kind(code: String) -> S3Trouble? {
        code.hasPrefix("KMS.") ? .encryption : kinds[code]
    }

    private static let kinds: [String: S3Trouble] = [
        "SignatureDoesNotMatch": .wrongSecret, "InvalidAccessKeyId": .unknownKey, "InvalidSecurity": .unknownKey,
        "AccessDenied": .denied, "AllAccessDisabled": .denied, "AccessForbidden": .denied, "Unauthorized": .denied,
        "NoSuchBucket": .noBucket, "NoSuchKey": .noObject,
        "PermanentRedirect": .elsewhere, "TemporaryRedirect": .elsewhere, "Redirect": .elsewhere,
        "AuthorizationHeaderMalformed": .elsewhere, "IllegalLocationConstraintException": .elsewhere,
        "InvalidRegion": .elsewhere, "InvalidLocationConstraint": .unknownRegion,
        "RequestTimeTooSkewed": .clock, "RequestExpired": .clock,
        "ExpiredToken": .ended, "InvalidToken": .ended, "TokenRefreshRequired": .ended,
        "InvalidBucketName": .badName, "BucketAlreadyExists": .takenName,
        "NotSignedUp": .account, "AccountProblem": .account, "UserSuspended": .account,
        "QuotaExceeded": .full, "InsufficientStorage": .full, "XMinioStorageFull": .full,
        "InvalidObjectState": .archived,
        "XAmzContentSHA256Mismatch": .changedOnTheWay, "BadDigest": .changedOnTheWay,
        "IncompleteBody": .changedOnTheWay,
        "MethodNotAllowed": .unknownCall, "NotImplemented": .unknownCall,
        "SlowDown": .busy, "ServiceUnavailable": .busy, "InternalError": .busy, "RequestTimeout": .busy,
        "OperationAborted": .busy, "TooManyRequests": .busy,
    ]

    /// What is wrong, and what to do.
    func pair(_ failure: S3Failure, _ step: BucketStep, _ address: BucketAddress) -> (String, String) {
        let bucket = address.bucket
        return switch self {
        case .wrongSecret: ("the secret key does not fit", Self.secretAdvice(address.origin))
        case .unknownKey: ("the store does not know the access key", Self.keyAdvice(address.origin))
        case .denied:
            (
                "the keys are not allowed to do this",
                """
                Give the user or role that the keys belong to the permission \(step.permission) on \
                \(step.resource(bucket: bucket)). All that Selfie needs are \(BucketStep.permissions). If it has them, a \
                policy of the bucket or of your organisation denies it, or the bucket \(bucket) belongs to someone else: \
                check S3_BUCKET_NAME.
                """
            )
        case .noBucket:
            (
                "there is no bucket \(bucket)",
                "Check S3_BUCKET_NAME, AWS_REGION and AWS_ENDPOINT_URL_S3. If they are right, make the bucket."
            )
        case .elsewhere: ("the bucket is in another region", Self.regionAdvice(failure.bucketRegion, address))
        case .unknownRegion:
            (
                "the store has no region \(address.region)",
                """
                Set AWS_REGION to one that the store has: its console or its documentation names them. Many stores other \
                than AWS take us-east-1. Or make the bucket \(bucket) by hand, private.
                """
            )
        case .clock:
            (
                "this machine's clock is wrong",
                "Requests are signed with the time, and the store takes none that is 15 minutes off. \(ClockSkew.remedy)"
            )
        case .ended: ("the temporary keys have ended, or are not whole", Self.tokenAdvice(address.origin))
        case .badName:
            (
                "the store does not take the bucket's name",
                "S3_BUCKET_NAME must be 3 to 63 of a-z, 0-9, '-' and '.', and begin and end with a letter or digit."
            )
        case .takenName:
            (
                "the name \(bucket) belongs to someone else",
                "Choose another name for S3_BUCKET_NAME: all of AWS shares them."
            )
        case .account:
            (
                "the store's account is not active",
                "Sign in to the store's console: a payment or a confirmation is missing."
            )
        case .encryption:
            (
                "the bucket's encryption key can't be used",
                """
                The bucket encrypts with a key of KMS. Enable that key, and give the user or role of the keys \
                kms:GenerateDataKey and kms:Decrypt on it.
                """
            )
        case .full: ("the store is full", "Raise the bucket's quota, or make room.")
        case .archived:
            (
                "the object was archived at once",
                "Remove the rule of the bucket that moves new objects into an archive class."
            )
        case .changedOnTheWay:
            (
                "other bytes arrived than were sent",
                "Something between this machine and the store changes what passes: let it pass the store's traffic as it is."
            )
        case .unknownCall:
            (
                "the store does not know this call",
                "Update the store. If its S3 interface lacks the call, Selfie can't use it for this."
            )
        case .busy:
            ("the store is overloaded or out of order", "Run selfie doctor again in a minute; see the store's status.")
        case .wrongScheme:
            (
                "the store does not understand the request",
                "Check AWS_ENDPOINT_URL_S3: http:// may have to be https://, or the port may not be that of the S3 interface."
            )
        case .noObject where [.list, .make, .put, .beginUpload].contains(step):
            (
                "the store does not know the address",
                "Check AWS_ENDPOINT_URL_S3: it must be the address of the store's S3 interface, not of its web console."
            )
        case .noObject:
            (
                "the object that was just put is not there",
                "The store forgets or hides what it took; is there a rule of the bucket that deletes, or a cache in between?"
            )
        }
    }

    private static func secretAdvice(_ origin: S3CredentialOrigin) -> String {
        let proxy =
            "If they are right, a proxy on the way changes requests: let it pass the header Host and the path as is."
        guard origin == .fixed else { return "The keys come from \(origin). \(proxy)" }
        return """
            AWS_SECRET_ACCESS_KEY is not the secret that belongs to AWS_ACCESS_KEY_ID, or was not copied whole. Copy both \
            again, without quotes or spaces around them; a secret can't be shown a second time, so make a new pair if you \
            no longer have it. \(proxy)
            """
    }

    private static func keyAdvice(_ origin: S3CredentialOrigin) -> String {
        guard origin == .fixed else {
            return "The keys come from \(origin). They are of AWS: AWS_ENDPOINT_URL_S3 must not name another store."
        }
        return """
            AWS_ACCESS_KEY_ID was mistyped, deleted or switched off, or is of another store than AWS_ENDPOINT_URL_S3 names \
            (without it, of AWS). Copy it again, or make a new pair. One that begins with ASIA needs AWS_SESSION_TOKEN, too.
            """
    }

    /// What to look at when a store refuses everything.
    static func doubtfulKeysAdvice(_ origin: S3CredentialOrigin) -> String {
        guard origin == .fixed else {
            return "The keys come from \(origin). AWS_ENDPOINT_URL_S3 must name the store that they are of."
        }
        return """
            Some stores, such as Ceph, say this of keys that are mistyped, not whole, unknown or ended, too. Copy \
            AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary keys, AWS_SESSION_TOKEN again, or make new ones.
            """
    }

    private static func tokenAdvice(_ origin: S3CredentialOrigin) -> String {
        guard origin == .fixed else { return "The keys come from \(origin), which gives no newer ones: see its log." }
        return """
            AWS_SESSION_TOKEN ends after some hours. Set new temporary keys, all three of them; better, use keys that stay (and \
            remove AWS_SESSION_TOKEN), or a role, whose keys Selfie renews by itself.
            """
    }

    private static func regionAdvice(_ region: String?, _ address: BucketAddress) -> String {
        let endpoint = """
            If AWS_ENDPOINT_URL_S3 is set, it must be of the same region; for a bucket at AWS, remove it.
            """
        guard let region, region != address.region else {
            return "Set AWS_REGION to the region that the store's console shows for the bucket. \(endpoint)"
        }
        return "Set AWS_REGION=\(region). \(endpoint)"
    }
}
