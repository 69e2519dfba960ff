import Encodings
import FoundationEssentials
import Postgres
import SelfieConfiguration

/// Finds settings that work but should be changed.
///
/// It does no I/O.
struct SettingsDiagnosis {
    let source: ConfigurationSource

    /// The findings, each with a text and an advice.
    var warnings: [Explanation] {
        mistakes
            + [
                apiPassword, secretKeyBase, sharedSecret, tokenWithoutPassword, rateLimits, trustedProxies, publicURL,
                databaseTLS,
            ].compactMap(\.self)
    }

    private var mistakes: [Explanation] {
        source.warnings.map {
            Explanation(text: $0, advice: "Correct it, or remove it. What is not known is not read.")
        }
    }

    private var apiPassword: Explanation? {
        guard let password = source.value(of: "API_AUTH_PASSWORD"),
            let weakness = SecretStrength.weakness(of: password, minCharacters: 12)
        else { return nil }
        return Explanation(
            text: "API_AUTH_PASSWORD \(weakness)",
            advice: """
                Anyone who guesses it can call the API as your app does. Take a random one, for instance from \
                `openssl rand -hex 16`, and put it into the app too; copies of the app with the old one then stop working.
                """
        )
    }

    private var secretKeyBase: Explanation? {
        guard let secret = source.value(of: "SECRET_KEY_BASE"),
            let weakness = SecretStrength.weakness(of: secret, minCharacters: 32)
        else { return nil }
        return Explanation(
            text: "SECRET_KEY_BASE \(weakness)",
            advice: """
                Anyone who guesses it can make the URL of any photo. Take a random one from `openssl rand -hex 64`. Clients \
                list their photos again by themselves.
                """
        )
    }

    private var sharedSecret: Explanation? {
        guard let secret = source.value(of: "SECRET_KEY_BASE"), secret == source.value(of: "API_AUTH_PASSWORD") else {
            return nil
        }
        return Explanation(
            text: "SECRET_KEY_BASE and API_AUTH_PASSWORD are the same",
            advice: """
                The password is inside the app, where anybody can read it, and then make the URL of any photo. Take another \
                SECRET_KEY_BASE from `openssl rand -hex 64`.
                """
        )
    }

    private var tokenWithoutPassword: Explanation? {
        guard source.value(of: "GET_TOKEN_WITHOUT_PASSWORD").flatMap(Bool.init(settingText:)) == true else {
            return nil
        }
        return Explanation(
            text: "GET_TOKEN_WITHOUT_PASSWORD is on: get_token hands out a token for any e-mail without the password",
            advice: """
                Anyone with your app can take over any account. Remove GET_TOKEN_WITHOUT_PASSWORD unless only machines \
                of your own network can reach the service.
                """
        )
    }

    private var rateLimits: Explanation? {
        guard source.value(of: "RATE_LIMITS").flatMap(Bool.init(settingText:)) == false else { return nil }
        return Explanation(
            text: "RATE_LIMITS is off: passwords may be tried without a limit",
            advice: "That is for load tests. Remove RATE_LIMITS, and raise single limits that are too low for you."
        )
    }

    private var trustedProxies: Explanation? {
        guard let text = source.value(of: "PUBLIC_URL"), let url = URL(string: text),
            url.scheme?.lowercased() == "https", source.value(of: "TRUSTED_PROXIES") == nil,
            source.value(of: "DYNO") == nil
        else { return nil }
        return Explanation(
            text: "PUBLIC_URL is https, so there is a proxy before the service, and TRUSTED_PROXIES is not set",
            advice: """
                All clients seem to have the proxy's address, and share the limits of one. Set TRUSTED_PROXIES to the \
                number of proxies that a request passes, 1 on Heroku, if these add the client's address to \
                X-Forwarded-For.
                """
        )
    }

    private var publicURL: Explanation? {
        guard let text = source.value(of: "PUBLIC_URL"), let url = URL(string: text), let host = url.host(),
            url.scheme?.lowercased() == "http", !Self.isLocal(host)
        else { return nil }
        return Explanation(
            text: "PUBLIC_URL begins with http://, so photos travel where others can read them",
            advice: "Let your proxy or platform serve HTTPS, and write PUBLIC_URL with https://."
        )
    }

    private var databaseTLS: Explanation? {
        guard let url = source.value(of: "DATABASE_URL"),
            let options = (try? PostgresConfiguration(url: url))?.options
        else { return nil }
        let hosts = (options["hostaddr"] ?? options["host"] ?? "").split(separator: ",").map(String.init)
        let mode = options["sslmode"] ?? "prefer"
        guard !hosts.allSatisfy(Self.isLocal), ["disable", "allow", "prefer"].contains(mode) else { return nil }
        return Explanation(
            text: "DATABASE_URL does not ask for an encrypted connection, and the database is on another machine",
            advice: """
                Add ?sslmode=require to DATABASE_URL (&sslmode=require if it has a question mark already), or better \
                sslmode=verify-full with sslrootcert. It may stay on a private network where nobody else can listen.
                """
        )
    }

    /// Whether the host is this machine.
    ///
    /// A path is the folder of a socket.
    private static func isLocal(_ host: String) -> Bool {
        let host = host.lowercased().withoutBrackets
        return host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host.hasSuffix(".localhost")
            || host == "::1" || host.hasPrefix("127.")
    }
}
