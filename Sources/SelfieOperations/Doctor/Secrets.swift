import Encodings
import Postgres
import SelfieConfiguration

/// Secrets to remove from texts of servers and libraries.
struct Secrets: Sendable {
    private let values: [String]

    init(source: ConfigurationSource) {
        let urls = ["DATABASE_URL", "DATABASE_URL_LISTEN", "DATABASE_URL_READ"].compactMap { source.value(of: $0) }
        let passwords = urls.compactMap { try? PostgresConfiguration(url: $0) }.compactMap { $0.options["password"] }
        // No server is sent the name of the API's credential, which is often that of the database, too.
        let keys = SettingsReader.secretKeys.subtracting(["API_AUTH_NAME"])
        values =
            (keys.compactMap { source.value(of: $0) } + passwords)
            // The longest first: one may be a part of another.
            .sorted { $0.utf8.count > $1.utf8.count }
    }

    /// Makes a text safe to show: one line, with each secret replaced.
    func hidden(in words: String) -> String {
        let line = String(words.map { $0.isNewline || $0.isWhitespace ? " " : $0 })
            .split(separator: " ").joined(separator: " ")
        let printable = String(String.UnicodeScalarView(line.unicodeScalars.filter { !$0.isControl }))
        return values.reduce(printable) { $0.replacing($1, with: "***") }
    }
}
