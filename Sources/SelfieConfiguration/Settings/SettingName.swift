import SelfieCore

/// The names of all settings.
package enum SettingName {
    /// What the service and its commands read.
    package static let all: Set<String> = Set(
        [
            "API_AUTH_NAME", "API_AUTH_PASSWORD", "AUDIT_RETENTION_DAYS", "AWS_ACCESS_KEY_ID",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_EC2_METADATA_DISABLED",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN", "CONNECTIONS_MAX", "CONNECTIONS_PER_ADDRESS_MAX", "CORS_ORIGINS", "DATABASE_POOL_SIZE",
            "DATABASE_URL", "DIRECTORY",
            "DOWNLOADS_AT_ONCE_MAX", "DOWNLOADS_AT_ONCE_PER_ADDRESS_MAX", "DYNO", "GALLERY",
            "GET_TOKEN_WITHOUT_PASSWORD",
            "LOG_FORMAT", "LOG_LEVEL", "METRICS_HOST", "METRICS_PORT", "OBJECTS_PATH", "OTEL_EXPORTER_OTLP_ENDPOINT",
            "OTEL_TRACES_EXPORTER", "OTEL_TRACES_SAMPLER_ARG", "PASSWORD_HASH_COST", "PHOTOS_PER_USER_MAX",
            "PHOTO_DELIVERY", "PORT",
            "PUBLIC_DOCS", "PUBLIC_URL", "RATE_LIMITS", "RECORDS_QUOTA_MB",
            "REMEMBERED_LIFETIME_DAYS", "S3_BUCKET_NAME", "S3_FORCE_PATH_STYLE", "SECRET_KEY_BASE",
            "STORAGE_PER_USER_MAX", "TOKEN_LIFETIME_HOURS", "TRUSTED_PROXIES", "UPLOADS_AT_ONCE_MAX",
            "UPLOADS_AT_ONCE_PER_USER_MAX", "UPLOAD_BYTES_MAX",
        ] + RateLimitName.allCases.map { "RATE_LIMIT_\($0.rawValue)" }
    )

    /// Those whose values must be seen nowhere.
    static let secrets: Set<String> = [
        "API_AUTH_NAME", "API_AUTH_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN", "DATABASE_URL", "SECRET_KEY_BASE",
    ]

    /// The setting that somebody may have meant with another name.
    ///
    /// - Parameter name: The name that was found.
    /// - Returns: nil for a setting's own name, and for one that is like none.
    package static func resembling(_ name: String) -> String? {
        guard !all.contains(name) else { return nil }
        let plain = plain(name)
        // Short names, such as PATH and PORT, are all alike.
        guard plain.count >= minLength else { return nil }
        let isLong = plain.count >= minLongLength
        let candidates = all.filter { known in
            let known = Self.plain(known)
            if isLong, known.starts(with: plain) { return true }
            return editDistance(plain, known, atMost: isLong ? maxDistance : 1) != nil
        }
        return candidates.min {
            (editDistance(plain, Self.plain($0), atMost: .max) ?? .max, $0)
                < (editDistance(plain, Self.plain($1), atMost: .max) ?? .max, $1)
        }
    }

    private static let minLength = 6
    /// A name of so many letters may differ by ``maxDistance``, a shorter one by one.
    private static let minLongLength = 8
    private static let maxDistance = 2

    private static func plain(_ name: String) -> [UInt8] {
        name.uppercased().utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
    }

    /// How many letters must be changed, added or left out (Levenshtein); nil when there are more.
    private static func editDistance(_ a: [UInt8], _ b: [UInt8], atMost max: Int) -> Int? {
        guard abs(a.count - b.count) <= max else { return nil }
        var row = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in b.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[b.count] <= max ? row[b.count] : nil
    }
}
