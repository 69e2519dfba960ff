import Encodings
import FoundationEssentials
import Postgres
import SelfieConfiguration

/// Finds settings that are missing, malformed or unsafe.
///
/// It does no I/O.
struct SettingsCheck {
    let source: ConfigurationSource

    func run(_ findings: Findings) {
        do {
            let configuration = try ServiceConfiguration(from: source)
            findings.ok("all settings that are needed are there")
            findings.ok("\(configuration.trustedProxies)")
        } catch {
            for setting in error.invalidSettings {
                findings.failed(
                    "\(setting)",
                    "Set it in the environment or in the file .env. See docs/configuration.md#all-keys."
                )
            }
        }
        for diagnosis in warnings { findings.warning(diagnosis.cause, diagnosis.remedy) }
    }

    /// What works but should be changed.
    var warnings: [Diagnosis] {
        let (password, secret) = (source.value(of: "API_AUTH_PASSWORD"), source.value(of: "SECRET_KEY_BASE"))
        let publicURL = source.value(of: "PUBLIC_URL").flatMap { URL(string: $0) }
        let scheme = publicURL?.scheme?.lowercased()
        let rules: [(isBroken: Bool, cause: String, remedy: String)] = [
            (
                secret != nil && secret == password, "SECRET_KEY_BASE and API_AUTH_PASSWORD are the same",
                """
                Anyone who reads the password in the app can make the URL of any photo. Set another SECRET_KEY_BASE, \
                from `openssl rand -hex 64`.
                """
            ),
            (
                flag("GET_TOKEN_WITHOUT_PASSWORD") == true,
                "GET_TOKEN_WITHOUT_PASSWORD is on: get_token gives a token for any e-mail without the password",
                "Anyone with your app can take over any account. Remove the setting."
            ),
            (
                flag("RATE_LIMITS") == false, "RATE_LIMITS is off: passwords may be tried without a limit",
                "That is for load tests. Remove RATE_LIMITS, and raise single limits. See docs/configuration.md#limits."
            ),
            (
                scheme == "https" && source.value(of: "TRUSTED_PROXIES") == nil && source.value(of: "DYNO") == nil,
                "PUBLIC_URL is https, so there is a proxy before the service, and TRUSTED_PROXIES is not set",
                "All clients share the limits of one. Set the number of proxies. See docs/configuration.md#addresses."
            ),
            (
                scheme == "http" && publicURL?.host().map(Self.isLocal) == false,
                "PUBLIC_URL begins with http://, so photos travel where others can read them",
                "Let your proxy or platform serve HTTPS, and write PUBLIC_URL with https://."
            ),
        ]
        let broken = rules.filter(\.isBroken).map { Diagnosis(cause: $0.cause, remedy: $0.remedy) }
        return source.warnings.map { Diagnosis(cause: $0, remedy: "Correct it, or remove it.") }
            + [
                weakness(
                    of: "API_AUTH_PASSWORD",
                    minCharacters: 12,
                    "Anyone who guesses it can call the API. Set one from `openssl rand -hex 16`, in the app too."
                ),
                weakness(
                    of: "SECRET_KEY_BASE",
                    minCharacters: 32,
                    "Anyone who guesses it can make the URL of any photo. Set one from `openssl rand -hex 64`."
                ),
            ].compactMap(\.self) + (broken + unencryptedConnections)
    }

    private func flag(_ key: String) -> Bool? { source.value(of: key).flatMap(Bool.init(settingText:)) }

    /// Warns of connections to other machines on which others could read along.
    private var unencryptedConnections: [Diagnosis] {
        ["DATABASE_URL", "DATABASE_URL_READ", "DATABASE_URL_LISTEN"].filter(isUnencrypted).map { key in
            Diagnosis(
                cause: "\(key) does not ask for an encrypted connection, and its database is on another machine",
                remedy: """
                    Add sslmode=require, or better sslmode=verify-full with sslrootcert, unless the network is private.
                    """
            )
        }
    }

    private func isUnencrypted(_ key: String) -> Bool {
        guard let url = source.value(of: key), let options = (try? PostgresConfiguration(url: url))?.options
        else { return false }
        let hosts = (options["hostaddr"] ?? options["host"] ?? "").split(separator: ",").map(String.init)
        return !hosts.allSatisfy(Self.isLocal)
            && ["disable", "allow", "prefer"].contains(options["sslmode"] ?? "prefer")
    }

    /// Whether the host is this machine; a path is the folder of a socket.
    private static func isLocal(_ host: String) -> Bool {
        let host = host.lowercased().withoutBrackets
        return host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host.hasSuffix(".localhost")
            || host == "::1" || host.hasPrefix("127.")
    }

    private static let minDistinctCharacters = 6
    private static let guesses = [
        "password", "p4ssw0rd", "passw0rd", "secret", "changeme", "change-me", "change_me", "example", "letmein",
        "12345", "qwerty", "selfie",
    ]

    /// Why a secret looks made up by a person; nil if it may come from a generator.
    private func weakness(of key: String, minCharacters: Int, _ remedy: String) -> Diagnosis? {
        guard let secret = source.value(of: key) else { return nil }
        let (characters, lowercased) = (Array(secret), secret.lowercased())
        let isRepetition = (1..<max(2, characters.count / 2 + 1)).contains { period in
            zip(characters, characters.dropFirst(period)).allSatisfy { $0 == $1 }
        }
        let weaknesses = [
            (Set(characters).count < Self.minDistinctCharacters, "has fewer than 6 different characters"),
            (characters.count < minCharacters, "has fewer than \(minCharacters) characters"),
            (isRepetition, "is a repetition"),
            (Self.guesses.contains(where: lowercased.contains), "contains a word that is tried first"),
        ]
        return weaknesses.first(where: \.0).map { Diagnosis(cause: "\(key) \($0.1)", remedy: remedy) }
    }
}
