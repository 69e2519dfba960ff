import Postgres

/// Why a database can't be used, as far as its error text tells.
///
/// It does no I/O.
///
/// For a failed connection, libpq gives no code, only text: its own and the server's, perhaps in another language. A
/// text that is not recognised is shown as it is.
struct DatabaseTrouble: Sendable, Equatable {
    enum Kind: Sendable, CaseIterable {
        case hostNotFound, refused, unreachable, noSocket, silent, wrongPassword, noPassword, noSuchUser, noSuchDatabase
        case tlsNotOffered, tlsWanted, certificate, notAdmitted, full, starting, noConnectPrivilege, lost, other
    }

    let kind: Kind
    /// The text of libpq or the server.
    private let words: String

    /// - Parameter error: The client's error.
    init(_ error: PostgresError) {
        switch error {
        case .cannotConnect(let words):
            self.words = words
            kind = Self.kind(words)
        case .leaseTimedOut, .statementTimedOut:
            words = ""
            kind = .silent
        case .connectionLost(let words):
            self.words = words
            kind = .lost
        case .server(let error):
            words = error.message
            kind = .other
        default:
            words = error.description
            kind = .other
        }
    }

    /// Parts of error texts, in order: the first that is found is the cause.
    ///
    /// With `sslmode=prefer` the text is of two attempts, and that of the second often misleads.
    private static let signs: [([String], Kind)] = [
        (["could not translate host name"], .hostNotFound),
        (["password authentication failed"], .wrongPassword),
        (["no password supplied"], .noPassword),
        (["too many clients"], .full),
        (["too many connections"], .full),
        (["remaining connection slots"], .full),
        (["is not permitted to log in"], .other),
        (["role \"", "does not exist"], .noSuchUser),
        (["database \"", "does not exist"], .noSuchDatabase),
        (["permission denied for database"], .noConnectPrivilege),
        (["database system is starting up"], .starting),
        (["database system is shutting down"], .starting),
        (["database system is in recovery mode"], .starting),
        (["server does not support SSL"], .tlsNotOffered),
        (["no pg_hba.conf entry", "SSL encryption"], .notAdmitted),
        (["no encryption"], .tlsWanted),
        (["SSL off"], .tlsWanted),
        (["no pg_hba.conf entry"], .notAdmitted),
        (["certificate"], .certificate),
        (["SSL error"], .certificate),
        (["No such file or directory"], .noSocket),
        (["Connection refused"], .refused),
        (["timeout expired"], .silent),
        (["does not answer"], .silent),
        (["timed out"], .silent),
        (["No route to host"], .unreachable),
        (["Network is unreachable"], .unreachable),
    ]

    private static func kind(_ words: String) -> Kind {
        signs.first { sign in sign.0.allSatisfy { words.contains($0) } }?.1 ?? .other
    }

    /// What is wrong and what to do.
    ///
    /// - Parameters:
    ///   - options: The connection's options, by libpq's keywords.
    ///   - secrets: The secrets that must not be shown.
    /// - Returns: A text that names neither the password nor the URL.
    func explanation(options: [String: String], secrets: Secrets) -> Explanation {
        let host = options["host"] ?? options["hostaddr"] ?? "this machine"
        let place = "\(host)\(options["port"].map { ":\($0)" } ?? "")"
        let user = options["user"] ?? ""
        let database = options["dbname"] ?? user
        let said = words.isEmpty ? "" : " It said: \(secrets.hidden(in: words))"
        let (text, advice) = pair(host: host, place: place, user: user, database: database)
        return Explanation(text: text, advice: advice + said)
    }

    private func pair(host: String, place: String, user: String, database: String) -> (String, String) {
        switch kind {
        case .hostNotFound:
            (
                "there is no host named \(host)",
                "Check the host in DATABASE_URL for a typing error, and this machine's DNS."
            )
        case .refused:
            (
                "nothing listens at \(place)",
                "Start PostgreSQL, or correct the host and port in DATABASE_URL. It must listen on TCP (listen_addresses)."
            )
        case .unreachable:
            ("there is no way to \(place)", "Check the host in DATABASE_URL, and the network and firewall in between.")
        case .noSocket:
            (
                "there is no PostgreSQL on this machine's socket",
                "Start PostgreSQL, or write a host into DATABASE_URL: postgresql://user:password@host:5432/database."
            )
        case .silent:
            (
                "\(place) does not answer",
                """
                The server is stopped or overloaded, or a firewall drops what is sent to it. Check the host and port in \
                DATABASE_URL, and whether this machine may reach them.
                """
            )
        case .wrongPassword:
            (
                "the password of the user \(user) is wrong",
                """
                Correct it in DATABASE_URL, or set a new one with ALTER ROLE. Characters such as @ : / ? # % in a password \
                must be written %40 %3A %2F %3F %23 %25 there.
                """
            )
        case .noPassword:
            ("it asks for a password", "Write one into DATABASE_URL: postgresql://user:password@host/database.")
        case .noSuchUser:
            ("there is no user \(user)", "Correct the user in DATABASE_URL, or make it: createuser --pwprompt \(user).")
        case .noSuchDatabase:
            (
                "there is no database \(database)",
                "Make it: createdb --owner \(user) \(database); or correct the name in DATABASE_URL. Then run selfie migrate."
            )
        case .tlsNotOffered:
            (
                "it offers no encrypted connections, and DATABASE_URL asks for one",
                "Switch TLS on at the server (ssl = on), or take sslmode out of DATABASE_URL on a network of your own."
            )
        case .tlsWanted:
            ("it takes encrypted connections only", "Add ?sslmode=require to DATABASE_URL.")
        case .certificate:
            (
                "the encrypted connection could not be set up",
                """
                With sslmode=verify-ca or verify-full the server's certificate must be signed by an authority in the file \
                that sslrootcert names, and with verify-full be made out to the host in DATABASE_URL.
                """
            )
        case .notAdmitted:
            (
                "it does not admit the user \(user) from this machine",
                "Add a line for user, database and this machine's address to the server's pg_hba.conf, and reload it."
            )
        case .full:
            (
                "all of its connections are taken",
                """
                Lower DATABASE_POOL_SIZE (each process opens so many), run fewer processes, or raise max_connections at the \
                server.
                """
            )
        case .starting: ("it is starting or shutting down", "Wait a moment and run selfie doctor again.")
        case .noConnectPrivilege:
            (
                "the user \(user) may not connect to the database \(database)",
                "As its owner, run: GRANT CONNECT ON DATABASE \(database) TO \(user)"
            )
        case .lost:
            ("the connection broke off", "Run selfie doctor again; if it stays, look into PostgreSQL's log.")
        case .other: ("it can't be used", "Check DATABASE_URL, and look into PostgreSQL's log.")
        }
    }
}
