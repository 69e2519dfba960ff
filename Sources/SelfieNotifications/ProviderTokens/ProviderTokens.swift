import Concurrency
import Cryptography
import Encodings
package import FoundationEssentials
package import Postgres
import Synchronization

/// The tokens with which a provider of pushes lets the service in, which all processes share.
///
/// Apple refuses a team that uses many (`TooManyProviderTokenUpdates`): a token is renewed after 20 minutes at the earliest, and
/// is valid for an hour. So one process makes it, under a lock, and the others read it from the table `provider_tokens`.
package final class ProviderTokens: Sendable {
    /// A provider, and how a token for it is made.
    package struct Issuer: Sendable {
        /// Such as `apns DEF123GHIJ ABC123DEFG`: tokens of another key are not to be used.
        let name: String
        let make: @Sendable (_ date: Date) async throws -> String

        /// - Parameters:
        ///   - name: The provider, and the key or account.
        ///   - make: Makes a token that is valid for an hour from a date on.
        package init(name: String, make: @escaping @Sendable (_ date: Date) async throws -> String) {
            (self.name, self.make) = (name, make)
        }
    }

    /// A token that a provider has refused can't be renewed yet, or another process is about to.
    package struct NotYet: Error {}

    private struct Cached {
        let token: String
        /// When another one is to be looked for.
        let staleAt: ContinuousClock.Instant
    }

    private let postgres: PostgresClient
    private let box: AESGCM
    private let cache = Mutex<[String: Cached]>([:])

    /// From this age on, a token is renewed.
    static let renewalAge: Duration = .seconds(40 * 60)
    /// From this age on, a token is not used.
    private static let maxAge: Duration = .seconds(55 * 60)
    /// Up to this age, a token that was refused is not renewed.
    static let minAge: Duration = .seconds(20 * 60)

    /// - Parameters:
    ///   - postgres: The database, whose clock counts: processes may disagree about the time.
    ///   - secret: `SECRET_KEY_BASE`, which seals tokens.
    package init(postgres: PostgresClient, secret: String) {
        self.postgres = postgres
        box = AESGCM(secret: secret, purpose: "tokens of push providers")
    }

    /// A token to use.
    ///
    /// - Parameters:
    ///   - issuer: The provider.
    ///   - refused: A token that the provider has just called expired; nil for none.
    /// - Returns: The token.
    /// - Throws: ``NotYet``, `PostgresError`, or what making a token throws.
    package func token(of issuer: Issuer, insteadOf refused: String? = nil) async throws -> String {
        if let cached = cache.withLock({ $0[issuer.name] }), cached.staleAt > .now, cached.token != refused {
            return cached.token
        }
        let stored = try await read(issuer.name, on: postgres)
        if let stored, stored.age < Self.renewalAge, stored.token != refused { return keep(stored, of: issuer) }
        return try await renew(issuer, insteadOf: refused, while: stored)
    }

    /// Renews a token, unless another process does.
    private func renew(_ issuer: Issuer, insteadOf refused: String?, while stored: Stored?) async throws -> String {
        let renewed: Stored? = try await postgres.withTransaction { connection in
            try await connection.execute(
                "INSERT INTO provider_tokens (name) VALUES (\(issuer.name)) ON CONFLICT DO NOTHING"
            )
            // Making one may take seconds, and nobody is to wait for that.
            let rows = try await connection.query(
                """
                SELECT \(part: Self.columns) FROM provider_tokens WHERE name = \(issuer.name) FOR UPDATE SKIP LOCKED
                """
            )
            guard let row = rows.first else { return nil }
            if let current = try open(row), current.token != refused, current.age < Self.renewalAge { return current }
            if let refused, let current = try open(row), current.token == refused, current.age < Self.minAge {
                throw NotYet()
            }
            let token = try await issuer.make(try row.decode("now"))
            let sealed = try box.seal(Array(token.utf8)).withUnsafeBytes { Base64URL.string(of: $0) }
            try await connection.execute(
                """
                UPDATE provider_tokens SET token = \(sealed), issued_at = now() AT TIME ZONE 'UTC'
                WHERE name = \(issuer.name)
                """
            )
            return Stored(token: token, age: .zero)
        }
        if let renewed { return keep(renewed, of: issuer) }
        // While another process makes the next one, this one is still good.
        guard let stored, stored.age < Self.maxAge, stored.token != refused else { throw NotYet() }
        return stored.token
    }

    private struct Stored {
        let token: String
        let age: Duration
    }

    private static let columns: PostgresQuery = """
        token, now() AT TIME ZONE 'UTC' AS now,
        coalesce(extract(epoch FROM now() AT TIME ZONE 'UTC' - issued_at) * 1000, 0)::bigint AS age
        """

    private func read(_ name: String, on postgres: PostgresClient) async throws -> Stored? {
        let rows = try await postgres.read("SELECT \(part: Self.columns) FROM provider_tokens WHERE name = \(name)")
        return try rows.first.flatMap(open)
    }

    /// The token of a row; nil when there is none, or it was sealed with another key.
    private func open(_ row: PostgresRow) throws -> Stored? {
        guard let sealed: String = try row.decodeIfPresent("token"), let bytes = Base64URL.bytes(of: sealed),
            let opened = try? box.open(bytes), let token = String(validating: opened, as: UTF8.self)
        else { return nil }
        return Stored(token: token, age: .milliseconds(try row.decode("age", as: Int.self)))
    }

    private func keep(_ stored: Stored, of issuer: Issuer) -> String {
        let cached = Cached(token: stored.token, staleAt: .now + (Self.renewalAge - stored.age))
        cache.withLock { $0[issuer.name] = cached }
        return stored.token
    }
}
