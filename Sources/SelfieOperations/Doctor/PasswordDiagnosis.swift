import AESCrypt
import Encodings
import FoundationEssentials
import Postgres

/// Tells of passwords that clients sent and nobody could decrypt.
struct PasswordDiagnosis {
    let findings: Findings

    /// Of how many days it tells.
    private static let days = 7

    /// Reads the counts.
    ///
    /// - Parameter connection: To a database with all tables.
    /// - Throws: `PostgresError`.
    func run(on connection: PostgresConnection) async throws(PostgresError) {
        let rows = try await connection.query(
            """
            SELECT reason, sum(count)::bigint AS count, max(last_at) AS last_at FROM undecryptable_passwords
            WHERE last_at > now() AT TIME ZONE 'UTC' - make_interval(days => \(Self.days)::integer)
            GROUP BY reason ORDER BY count DESC, reason
            """
        )
        if rows.isEmpty { return findings.ok("in the last \(Self.days) days, all that came could be decrypted") }
        for row in rows {
            let problem = AESCryptProblem(rawValue: try row.decode("reason"))
            let (count, date) = (try row.decode("count", as: Int.self), try row.decode("last_at", as: Date.self))
            findings.warning(
                """
                \(counted(count, "password")) of the last \(Self.days) days \(count == 1 ? "was" : "were") \
                \(problem?.finding ?? "not decrypted"), the last at \(date.formatted(.iso8601))
                """,
                """
                \(problem?.advice ?? "A newer version of Selfie knows why.") docs/passwords.md shows how clients \
                encrypt, and what must come out.
                """
            )
        }
    }
}

extension AESCryptProblem {
    /// What is wrong with such passwords.
    fileprivate var finding: String {
        switch self {
        case .notBase64: "no base64"
        case .plusBecameSpace: "base64 with spaces in it"
        case .notWholeBlocks: "no whole blocks of AES"
        case .otherKey: "encrypted in another way"
        }
    }

    /// What to do in the client.
    fileprivate var advice: String {
        switch self {
        case .notBase64: "A client sends them in the clear, as hexadecimal or as base64url."
        case .plusBecameSpace: "A client sends a form without percent-encoding it: a + must be %2B there."
        case .notWholeBlocks: "A client cuts them off, or encodes a password without encrypting it."
        case .otherKey:
            """
            Most likely the app has another API_AUTH_PASSWORD than the service. Or it takes another mode, another \
            padding, or an initialization vector that is not zero.
            """
        }
    }
}
