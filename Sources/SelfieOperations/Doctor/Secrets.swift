import Encodings
import Postgres
import SelfieConfiguration

/// Secrets to remove from texts that are not our own.
struct Secrets: Sendable {
    private let values: [String]

    private static let keys = [
        "API_AUTH_PASSWORD", "SECRET_KEY_BASE", "DATABASE_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    ]

    init(source: ConfigurationSource) {
        let url = source.value(of: "DATABASE_URL")
        let options = url.flatMap { try? PostgresConfiguration(url: $0) }?.options
        values =
            (Self.keys.compactMap { source.value(of: $0) } + [options?["password"]].compactMap(\.self))
            // The longest first: one may be a part of another.
            .sorted { $0.utf8.count > $1.utf8.count }
    }

    /// Makes a text of a server or a library safe to show: one line, without secrets.
    ///
    /// - Parameter words: The text of a server or a library.
    /// - Returns: The text with each secret replaced.
    func hidden(in words: String) -> String {
        let line = String(words.map { $0.isNewline || $0.isWhitespace ? " " : $0 })
            .split(separator: " ").joined(separator: " ")
        let printable = String(String.UnicodeScalarView(line.unicodeScalars.filter { !$0.isControl }))
        return values.reduce(printable) { $0.replacing($1, with: "***") }
    }
}
