import Postgres
import Testing

@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("Advice about a database that can't be reached")
struct DatabaseTroubleTests {
    @Test(
        "What libpq says is told by its kind",
        arguments: [
            (#"could not translate host name "db.x" to address: Name or service not known"#, .hostNotFound),
            (#"connection to server at "db.x" (10.0.0.1), port 5432 failed: Connection refused"#, .refused),
            (#"connection to server at "db.x", port 5432 failed: timeout expired"#, .silent),
            (#"connection to server at "db.x", port 5432 failed: No route to host"#, .unreachable),
            (#"connection to server on socket "/x/.s.PGSQL.5432" failed: No such file or directory"#, .noSocket),
            (#"FATAL:  password authentication failed for user "me""#, .wrongPassword),
            ("fe_sendauth: no password supplied", .noPassword),
            (#"FATAL:  role "me" does not exist"#, .noSuchUser),
            (#"FATAL:  database "photos" does not exist"#, .noSuchDatabase),
            ("server does not support SSL, but SSL was required", .tlsNotOffered),
            (
                #"FATAL:  no pg_hba.conf entry for host "1.2.3.4", user "me", database "photos", no encryption"#,
                .tlsWanted
            ),
            (
                #"FATAL:  no pg_hba.conf entry for host "1.2.3.4", user "me", database "photos", SSL encryption"#,
                .notAdmitted
            ),
            ("SSL error: certificate verify failed", .certificate),
            (#"root certificate file "/r.crt" does not exist"#, .certificate),
            (#"server certificate for "a" does not match host name "b""#, .certificate),
            ("FATAL:  sorry, too many clients already", .full),
            (#"FATAL:  too many connections for role "me""#, .full),
            ("FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute", .full),
            ("FATAL:  the database system is starting up", .starting),
            (#"FATAL:  permission denied for database "photos""#, .noConnectPrivilege),
            // With sslmode=prefer: one sentence for each of two attempts.
            (
                #"FATAL:  password authentication failed for user "me" FATAL:  no pg_hba.conf entry …, no encryption"#,
                .wrongPassword
            ),
            ("FATAL:  Passwort-Authentifizierung fehlgeschlagen", .other),
        ] as [(String, DatabaseTrouble.Kind)]
    )
    func kinds(words: String, kind: DatabaseTrouble.Kind) {
        #expect(DatabaseTrouble(.cannotConnect(words)).kind == kind)
    }

    @Test("The password is in none of the words, whoever says them")
    func password() {
        let url = "postgresql://me:s3same@db.x:5433/photos"
        let secrets = Secrets(source: ConfigurationSource(values: ["DATABASE_URL": url]))
        let options = ["host": "db.x", "port": "5433", "user": "me", "dbname": "photos", "password": "s3same"]
        for words in [
            "refused \(url) and s3same", "password authentication failed: s3same", "database \"s3same\" does not exist",
        ] {
            let explanation = DatabaseTrouble(.cannotConnect(words)).explanation(options: options, secrets: secrets)
            #expect(!explanation.text.contains("s3same") && !explanation.advice.contains("s3same"))
            #expect(explanation.advice.contains("***"))
        }
    }

    @Test("Who does not answer is named with host and port")
    func silence() {
        let secrets = Secrets(source: ConfigurationSource(values: [:]))
        let explanation = DatabaseTrouble(.leaseTimedOut)
            .explanation(options: ["host": "db.x", "port": "5433"], secrets: secrets)
        #expect(explanation.text == "db.x:5433 does not answer")
    }
}
