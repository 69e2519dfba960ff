import Budgets
import Encodings
import FoundationEssentials
import Logging
import NIOCore
package import Postgres
import SelfieAccounts
package import SelfiePhotos

/// Reads settings one by one, and collects those that are missing or malformed.
///
/// A setting is declared by the call that reads it, with its key, its default and whether it is secret. An empty source
/// reaches all of these calls, which is how ``keys`` are known.
package struct SettingsReader {
    let source: ConfigurationSource
    var invalid: [ConfigurationError.InvalidSetting] = []
    /// The values that were read and differ from the default, without secrets.
    private(set) var differing: [String: String] = [:]
    /// The keys that were read; true for secret ones.
    private var isSecretByKey: [String: Bool] = [:]

    package init(_ source: ConfigurationSource) {
        self.source = source
    }

    private static let known: [String: Bool] = {
        var reader = SettingsReader(ConfigurationSource(values: [:]))
        _ = try? ServiceConfiguration(from: &reader)
        return reader.isSecretByKey
    }()

    /// The keys of all settings.
    package static var keys: Set<String> { Set(known.keys) }
    /// The keys of settings whose values must not be shown.
    package static var secretKeys: Set<String> { Set(known.filter(\.value).keys) }

    mutating func optional<Value>(
        _ key: String,
        _ expected: String,
        isSecret: Bool = false,
        parse: (String) -> Value?
    ) -> Value? {
        isSecretByKey[key] = isSecret
        guard let text = source.value(of: key) else { return nil }
        guard let value = parse(text) else {
            invalid.append(.malformed(key: key, expected: expected))
            return nil
        }
        if !isSecret { differing[key] = text }
        return value
    }

    mutating func optional<Value: Equatable>(
        _ key: String,
        _ expected: String,
        default fallback: Value,
        parse: (String) -> Value?
    ) -> Value {
        let value = optional(key, expected, parse: parse) ?? fallback
        if value == fallback { differing[key] = nil }
        return value
    }

    /// Any text; nil when it is not set.
    mutating func text(_ key: String, isSecret: Bool = false) -> String? {
        optional(key, "a text", isSecret: isSecret) { $0 }
    }

    mutating func required<Value>(
        _ key: String,
        _ expected: String,
        isSecret: Bool = false,
        hint: String? = nil,
        parse: (String) -> Value?
    ) -> Value? {
        if source.value(of: key) == nil { invalid.append(.missing(key: key, hint: hint)) }
        return optional(key, expected, isSecret: isSecret, parse: parse)
    }

    mutating func required(_ key: String, isSecret: Bool = false, hint: String? = nil) -> String? {
        required(key, "a text", isSecret: isSecret, hint: hint) { $0 }
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>, default fallback: Int) -> Int {
        let value = integer(key, in: range) ?? fallback
        if value == fallback { differing[key] = nil }
        return value
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return optional(key, expected) { Int($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    package mutating func passwordHashCost() -> Int { integer("PASSWORD_HASH_COST", in: 10...14, default: 12) }

    mutating func boolean(_ key: String, default fallback: Bool) -> Bool {
        optional(key, "true or false", default: fallback) { Bool(settingText: $0) }
    }

    mutating func hasDirectory() -> Bool {
        optional("DIRECTORY", "members, or not set", default: false) { $0 == "members" ? true : nil }
    }

    mutating func logLevel() -> Logger.Level {
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        return optional("LOG_LEVEL", "one of \(names)", default: .info) { text in
            // Many other programs call it so.
            text.lowercased() == "warn" ? .warning : Logger.Level(rawValue: text.lowercased())
        }
    }

    package mutating func port() -> Int {
        integer("PORT", in: 0...65535, default: 3000)
    }

    package mutating func logFormat() -> LogFormat {
        optional("LOG_FORMAT", "logfmt or json", default: .logfmt) { LogFormat(rawValue: $0.lowercased()) }
    }

    /// Where metrics are served; nil for nowhere.
    mutating func metricsAddress() -> MetricsAddress? {
        let host = optional("METRICS_HOST", "an IP address", default: "127.0.0.1") { text in
            (try? SocketAddress(ipAddress: text, port: 0)).map { _ in text }
        }
        return integer("METRICS_PORT", in: 0...65535).map { MetricsAddress(host: host, port: $0) }
    }

    /// Origins without a path, such as `https://app.example.com`, between commas.
    mutating func corsOrigins() -> Set<String> {
        optional("CORS_ORIGINS", "origins such as https://app.example.com, with commas between them", default: []) {
            text in
            let origins = text.split(separator: ",").map { $0.trimmingWhitespace() }
            return origins.allSatisfy(Self.isOrigin) ? Set(origins) : nil
        }
    }

    mutating func traces() -> TracesSettings? {
        let exporter = optional("OTEL_TRACES_EXPORTER", "none, console or otlp", default: "none") { text in
            ["none", "console", "otlp"].contains(text.lowercased()) ? text.lowercased() : nil
        }
        let endpoint = optional(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "an http:// or https:// URL",
            default: "http://127.0.0.1:4318",
            parse: Self.origin
        )
        let ratio = optional("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1", default: 1) { text in
            Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
        }
        switch exporter {
        case "console": return TracesSettings(exporter: .console, sampleRatio: ratio)
        case "otlp": return TracesSettings(exporter: .otlp(endpoint: endpoint), sampleRatio: ratio)
        default: return nil
        }
    }

    /// Whether a text is an origin as browsers send it (RFC 6454, section 6.2).
    private static func isOrigin(_ text: String) -> Bool {
        guard let origin = origin(text), origin == text, let url = URL(string: text) else { return false }
        return url.path().isEmpty && text == text.lowercased()
    }

    package mutating func postgres() -> PostgresConfiguration? {
        let maxConnections = integer("DATABASE_POOL_SIZE", in: 1...500, default: 10)
        let form = "a postgresql:// URL"
        var configuration = required("DATABASE_URL", form, isSecret: true) { url in
            var configuration = try? PostgresConfiguration(url: url, maxConnections: maxConnections)
            configuration?.applicationName = "selfie"
            return configuration
        }
        func url(_ key: String) -> String? {
            optional(key, form, isSecret: true) { url in (try? PostgresConfiguration(url: url)).map { _ in url } }
        }
        let (listenURL, standbyURL) = (url("DATABASE_URL_LISTEN"), url("DATABASE_URL_READ"))
        if let listenURL { try? configuration?.setListenURL(listenURL) }
        if let standbyURL { try? configuration?.setStandbyURL(standbyURL) }
        return configuration
    }

    package mutating func maxUploadBytes() -> Int {
        integer("UPLOAD_BYTES_MAX", in: 1...(1 << 30), default: 32 << 20)
    }

    mutating func trustedProxies() -> TrustedProxies {
        TrustedProxies(setting: integer("TRUSTED_PROXIES", in: 0...16), isHeroku: source.value(of: "DYNO") != nil)
    }

    package mutating func photoQuota() -> PhotoQuota {
        PhotoQuota(
            maxCount: integer("PHOTOS_PER_USER_MAX", in: PhotoQuota.maxCountRange, default: PhotoQuota.usual.maxCount),
            maxBytes: integer("STORAGE_PER_USER_MAX", in: PhotoQuota.maxBytesRange, default: PhotoQuota.usual.maxBytes)
        )
    }

    mutating func recordsQuotaBytes() -> Int {
        integer("RECORDS_QUOTA_MB", in: 1...1_000_000, default: 64) << 20
    }

    /// Each upload may hold about half a MiB beside what uploads share.
    mutating func uploadLimits() -> PermitLimits {
        let total = integer("UPLOADS_AT_ONCE_MAX", in: 1...10_000, default: 200)
        return PermitLimits(
            total: total,
            perHolder: integer("UPLOADS_AT_ONCE_PER_USER_MAX", in: 1...10_000, default: min(4, max(1, total / 2)))
        )
    }

    /// How many small pictures are made at once; 0 for none.
    package mutating func renditionsAtOnce() -> Int {
        integer("RENDITIONS_AT_ONCE", in: 0...64, default: 1)
    }

    package mutating func apiPassword() -> String? { required("API_AUTH_PASSWORD", isSecret: true) }

    mutating func apiCredential() -> APICredential? {
        let name = required("API_AUTH_NAME", "a text without a colon", isSecret: true) { $0.contains(":") ? nil : $0 }
        let password = apiPassword()
        guard let name, let password else { return nil }
        return APICredential(name: name, password: password)
    }

    /// With a folder, there is no other server to send clients to.
    mutating func photoDelivery() -> PhotoDelivery {
        if source.value(of: "OBJECTS_PATH") == nil {
            return optional("PHOTO_DELIVERY", "redirect or proxy", default: .redirect) { PhotoDelivery(rawValue: $0) }
        }
        return optional("PHOTO_DELIVERY", "proxy, or not set, with OBJECTS_PATH", default: .proxy) {
            $0 == "proxy" ? .proxy : nil
        }
    }

    /// An origin, perhaps with a path, without the slash at its end.
    static func origin(_ text: String) -> String? {
        guard
            let url = URL(string: text), let host = url.host(), !host.isEmpty,
            ["http", "https"].contains(url.scheme?.lowercased()),
            url.query() == nil, url.fragment() == nil, url.user() == nil,
            !text.utf8.contains(where: { forbiddenInOrigins.contains($0) || $0 <= 0x20 || $0 == 0x7F })
        else { return nil }
        return String(text.reversed().drop { $0 == "/" }.reversed())
    }

    /// No URL may hold these (RFC 3986, appendix A), but Foundation accepts them.
    ///
    /// An origin is copied into JSON as it is.
    private static let forbiddenInOrigins = Array("\"\\<>^`{|}".utf8)
}
