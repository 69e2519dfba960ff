import Postgres

extension Diagnosis {
    /// Why a database can't be used, in the words of libpq and the server.
    ///
    /// For a failed connection libpq gives no code, only texts, which may be in another language.
    ///
    /// - Parameters:
    ///   - error: The client's error.
    ///   - secrets: What must not be shown.
    /// - Returns: The diagnosis.
    static func database(_ error: PostgresError, secrets: Secrets) -> Diagnosis {
        let words = Self.words(of: error)
        let remedy = databaseRemedies.first { words.contains($0.sign) }?.remedy
        return Diagnosis(
            cause: "it can't be used: \(secrets.hidden(in: words))",
            remedy: remedy ?? "Check DATABASE_URL, and look into PostgreSQL's log."
        )
    }

    /// Why the database of one setting can't be used.
    ///
    /// - Parameters:
    ///   - error: The client's error.
    ///   - key: The setting, such as `DATABASE_URL_READ`.
    ///   - secrets: What must not be shown.
    /// - Returns: The cause.
    static func cause(of error: PostgresError, with key: String, secrets: Secrets) -> String {
        "\(key) can't be used: \(secrets.hidden(in: words(of: error)))"
    }

    private static func words(of error: PostgresError) -> String {
        switch error {
        case .cannotConnect(let words), .connectionLost(let words): words
        case .server(let error): error.message
        case .leaseTimedOut, .statementTimedOut: "it does not answer"
        default: error.description
        }
    }

    private static let pool = "Lower DATABASE_POOL_SIZE, run fewer processes, or raise max_connections."
    private static let admission = "Add the user and this machine to the server's pg_hba.conf, and reload it."
    private static let network = "Check host and port in DATABASE_URL, and the network and firewall in between."

    /// Parts of error texts: the first that is found counts.
    ///
    /// With `sslmode=prefer` the text is of two attempts, and that of the second often misleads.
    private static let databaseRemedies: [(sign: String, remedy: String)] = [
        ("could not translate host name", "Check the host in DATABASE_URL, and this machine's DNS."),
        ("password authentication failed", "Correct the password in DATABASE_URL. See docs/operations.md#doctor."),
        ("no password supplied", "Add it to DATABASE_URL: postgresql://user:password@host/database."),
        ("too many clients", pool), ("too many connections", pool), ("remaining connection slots", pool),
        ("certificate", "Check sslmode, sslrootcert and the host in DATABASE_URL. See docs/operations.md#doctor."),
        ("\" does not exist", "Correct DATABASE_URL, or make user and database: docs/operations.md#doctor."),
        ("permission denied for database", "As the database's owner, run: GRANT CONNECT ON DATABASE … TO …"),
        ("system is starting up", "Run selfie doctor again in a moment."),
        ("system is shutting down", "Run selfie doctor again in a moment."),
        ("system is in recovery mode", "Run selfie doctor again in a moment."),
        ("does not support SSL", "Set ssl = on at the server, or remove sslmode on a private network."),
        ("SSL encryption", admission),
        ("no encryption", "Add ?sslmode=require to DATABASE_URL."),
        ("SSL off", "Add ?sslmode=require to DATABASE_URL."),
        ("no pg_hba.conf entry", admission),
        ("SSL error", "Check sslmode in DATABASE_URL, and the server's certificate. See docs/operations.md#doctor."),
        ("No such file or directory", "Start PostgreSQL, or name its host in DATABASE_URL."),
        ("Connection refused", "Start PostgreSQL with listen_addresses set, or correct DATABASE_URL."),
        ("timeout expired", network), ("does not answer", network), ("timed out", network),
        ("No route to host", network), ("Network is unreachable", network),
    ]
}
