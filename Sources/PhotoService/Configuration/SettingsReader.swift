import Foundation
import Logging
import Postgres
import S3

/// Reads keys one by one and remembers what is wrong with any of them.
struct SettingsReader {
    private let source: ConfigurationSource
    private(set) var problems: [ConfigurationError.Problem] = []

    init(_ source: ConfigurationSource) {
        self.source = source
    }

    mutating func optional<Value>(_ key: String, _ expected: String, parse: (String) -> Value?) -> Value? {
        guard let text = source.value(of: key) else { return nil }
        guard let value = parse(text) else {
            problems.append(.malformed(key: key, expected: expected))
            return nil
        }
        return value
    }

    mutating func required<Value>(
        _ key: String,
        _ expected: String,
        hint: String? = nil,
        parse: (String) -> Value?
    ) -> Value? {
        if source.value(of: key) == nil { problems.append(.missing(key: key, hint: hint)) }
        return optional(key, expected, parse: parse)
    }

    mutating func required(_ key: String, hint: String? = nil) -> String? {
        required(key, "a text", hint: hint) { $0 }
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>, default fallback: Int) -> Int {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return optional(key, expected) { Int($0).flatMap { range.contains($0) ? $0 : nil } } ?? fallback
    }

    mutating func boolean(_ key: String, default fallback: Bool) -> Bool {
        optional(key, "true or false") { text in
            switch text.lowercased() {
            case "true", "yes", "1": true
            case "false", "no", "0": false
            default: nil
            }
        } ?? fallback
    }

    mutating func logLevel() -> Logger.Level {
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        return optional("LOG_LEVEL", "one of \(names)") { Logger.Level(rawValue: $0.lowercased()) } ?? .info
    }

    mutating func postgres() -> PostgresConfiguration? {
        let connectionsMax = integer("DATABASE_POOL_SIZE", in: 1...500, default: 10)
        return required("DATABASE_URL", "a postgresql:// URL") { url in
            try? PostgresConfiguration(url: url, connectionsMax: connectionsMax)
        }
    }

    mutating func apiCredential() -> APICredential? {
        let name = required("API_AUTH_NAME", "a text without a colon") { $0.contains(":") ? nil : $0 }
        let password = required("API_AUTH_PASSWORD")
        guard let name, let password else { return nil }
        return APICredential(name: name, password: password)
    }

    mutating func objectStorage() -> ServiceConfiguration.ObjectStorage? {
        if let path = source.value(of: "OBJECTS_PATH") { return .disk(path: path) }
        let bucket = required("S3_BUCKET_NAME", hint: "or OBJECTS_PATH, to keep photos on disk")
        let accessKeyID = required("AWS_ACCESS_KEY_ID")
        let secretAccessKey = required("AWS_SECRET_ACCESS_KEY")
        let forcesPathStyle = boolean("S3_FORCE_PATH_STYLE", default: false)
        guard let bucket, let accessKeyID, let secretAccessKey else { return nil }
        do {
            let configuration = try S3Configuration(
                bucket: bucket,
                region: source.value(of: "AWS_REGION") ?? "us-east-1",
                endpoint: source.value(of: "AWS_ENDPOINT_URL_S3"),
                forcePathStyle: forcesPathStyle
            )
            let credentials = try S3Credentials(
                accessKeyID: accessKeyID,
                secretAccessKey: secretAccessKey,
                sessionToken: source.value(of: "AWS_SESSION_TOKEN")
            )
            return .s3(configuration, credentials)
        } catch {
            problems.append(Self.problem(error))
            return nil
        }
    }

    /// Files of a folder have no address to send clients to.
    mutating func photoDelivery() -> PhotoDelivery {
        if source.value(of: "OBJECTS_PATH") == nil {
            return optional("PHOTO_DELIVERY", "redirect or proxy") { PhotoDelivery(rawValue: $0) } ?? .redirect
        }
        return optional("PHOTO_DELIVERY", "proxy, or not set, with OBJECTS_PATH") { $0 == "proxy" ? .proxy : nil }
            ?? .proxy
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

    /// What no URL may hold (RFC 3986, appendix A), but Foundation takes; an origin is copied into JSON as it is.
    private static let forbiddenInOrigins = Array("\"\\<>^`{|}".utf8)

    private static func problem(_ error: S3ConfigurationError) -> ConfigurationError.Problem {
        switch error {
        case .bucket: .malformed(key: "S3_BUCKET_NAME", expected: "the name of a bucket")
        case .region: .malformed(key: "AWS_REGION", expected: "the name of a region, such as eu-west-1")
        case .endpointNotHTTP, .endpointNotBare:
            .malformed(key: "AWS_ENDPOINT_URL_S3", expected: "an http:// or https:// URL of a host, without a path")
        case .accessKeyID: .malformed(key: "AWS_ACCESS_KEY_ID", expected: "visible ASCII characters")
        case .secretAccessKey: .malformed(key: "AWS_SECRET_ACCESS_KEY", expected: "visible ASCII characters")
        case .sessionToken: .malformed(key: "AWS_SESSION_TOKEN", expected: "visible ASCII characters")
        }
    }
}
