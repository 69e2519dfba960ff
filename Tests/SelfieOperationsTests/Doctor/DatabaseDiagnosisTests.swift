import Postgres
import Testing

@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("Diagnosis of a database's errors")
struct DatabaseDiagnosisTests {
    @Test(
        "The remedy fits libpq's words, which are the cause",
        arguments: [
            (#"could not translate host name "db.x" to address: Name or service not known"#, "this machine's DNS"),
            (#"connection to server at "db.x" (10.0.0.1), port 5432 failed: Connection refused"#, "Start PostgreSQL"),
            (#"connection to server at "db.x", port 5432 failed: timeout expired"#, "firewall in between"),
            (#"connection to server at "db.x", port 5432 failed: No route to host"#, "firewall in between"),
            (#"connection to server on socket "/x/.s.PGSQL.5432" failed: No such file or directory"#, "name its host"),
            (#"FATAL:  password authentication failed for user "me""#, "Correct the password"),
            ("fe_sendauth: no password supplied", "user:password@host"),
            (#"FATAL:  role "me" does not exist"#, "make user and database"),
            (#"FATAL:  database "photos" does not exist"#, "make user and database"),
            ("server does not support SSL, but SSL was required", "ssl = on"),
            (
                #"FATAL:  no pg_hba.conf entry for host "1.2.3.4", user "me", database "photos", no encryption"#,
                "sslmode=require"
            ),
            (
                #"FATAL:  no pg_hba.conf entry for host "1.2.3.4", user "me", database "photos", SSL encryption"#,
                "server's pg_hba.conf"
            ),
            ("SSL error: certificate verify failed", "sslrootcert"),
            (#"root certificate file "/r.crt" does not exist"#, "sslrootcert"),
            (#"server certificate for "a" does not match host name "b""#, "sslrootcert"),
            ("FATAL:  sorry, too many clients already", "DATABASE_POOL_SIZE"),
            (#"FATAL:  too many connections for role "me""#, "DATABASE_POOL_SIZE"),
            (
                "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
                "DATABASE_POOL_SIZE"
            ),
            ("FATAL:  the database system is starting up", "again in a moment"),
            (#"FATAL:  permission denied for database "photos""#, "GRANT CONNECT"),
            // With sslmode=prefer: one sentence for each of two attempts.
            (
                #"FATAL:  password authentication failed for user "me" FATAL:  no pg_hba.conf entry …, no encryption"#,
                "Correct the password"
            ),
            ("FATAL:  Passwort-Authentifizierung fehlgeschlagen", "PostgreSQL's log"),
        ]
    )
    func remedies(words: String, remedy: String) {
        let diagnosis = Diagnosis.database(.cannotConnect(words), secrets: Self.secrets)
        #expect(diagnosis.cause == "it can't be used: \(words.split(separator: " ").joined(separator: " "))")
        #expect(diagnosis.remedy.contains(remedy))
    }

    @Test("A database that does not answer is not blamed on libpq")
    func silence() {
        let diagnosis = Diagnosis.database(.leaseTimedOut, secrets: Self.secrets)
        #expect(diagnosis.cause == "it can't be used: it does not answer")
        #expect(diagnosis.remedy.contains("firewall in between"))
    }

    @Test(
        "Neither the password nor the URL is shown, whichever setting has them",
        arguments: ["DATABASE_URL", "DATABASE_URL_LISTEN", "DATABASE_URL_READ"]
    )
    func password(key: String) {
        let url = "postgresql://me:s3same@db.x:5433/photos"
        let secrets = Secrets(source: ConfigurationSource(values: [key: url]))
        let error = PostgresError.cannotConnect("refused \(url) and s3same")
        #expect(Diagnosis.database(error, secrets: secrets).cause == "it can't be used: refused *** and ***")
        let cause = Diagnosis.cause(of: error, with: key, secrets: secrets)
        #expect(cause == "\(key) can't be used: refused *** and ***")
    }

    private static let secrets = Secrets(
        source: ConfigurationSource(values: ["DATABASE_URL": "postgresql://me:s3same@db.x:5433/photos"])
    )
}
