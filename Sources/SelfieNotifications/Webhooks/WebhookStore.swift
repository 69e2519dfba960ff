import Cryptography
import Deliveries
import Encodings
import FoundationEssentials
package import Postgres
package import Webhooks

/// The table `webhooks`.
package struct WebhookStore: Sendable {
    private let postgres: PostgresClient
    private let box: AESGCM

    /// How many webhooks there may be.
    package static let maxCount = 16
    /// How long an old secret signs as well.
    static let formerSecretHours = 24
    /// After so many days of nothing but failures, a webhook is disabled.
    private static let maxFailingDays = 5
    /// With more events than this that wait, a webhook is disabled: the database must not fill up.
    var maxWaitingCount = 100_000

    /// - Parameters:
    ///   - postgres: The database.
    ///   - secret: `SECRET_KEY_BASE`, which seals the webhooks' secrets.
    package init(postgres: PostgresClient, secret: String) {
        self.postgres = postgres
        box = AESGCM(secret: secret, purpose: "secrets of webhooks")
    }

    // MARK: - For operators

    /// Adds a webhook.
    ///
    /// - Parameters:
    ///   - url: Its receiver.
    ///   - events: As ``WebhookEvents/read(_:collections:)`` makes them.
    ///   - isFull: Whether it gets what an event is about, too.
    /// - Returns: Its id, and its secret, which nobody can see later; nil when there are ``maxCount`` already.
    /// - Throws: `PostgresError`, `CryptographyError`.
    package func add(
        _ url: WebhookURL,
        events: [String],
        isFull: Bool
    ) async throws -> (id: Int, secret: WebhookSecret)? {
        let secret = WebhookSecret.make()
        let sealed = try seal(secret)
        return try await postgres.withTransaction { connection in
            try await connection.execute("LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE")
            let rows = try await connection.query(
                """
                INSERT INTO webhooks (url, events, is_full, secret)
                SELECT \(url.text), \(events), \(isFull), \(sealed)
                WHERE (SELECT count(*) FROM webhooks) < \(Self.maxCount)
                RETURNING id::bigint AS id
                """
            )
            return try rows.first.map { (try $0.decode("id"), secret) }
        }
    }

    /// A secret can't be opened: it was sealed with another `SECRET_KEY_BASE`.
    package struct OtherSecret: Error {}

    private func open(_ sealed: String) throws(OtherSecret) -> WebhookSecret {
        guard let bytes = Base64URL.bytes(of: sealed), let secret = try? WebhookSecret(sealed: bytes, by: box) else {
            throw OtherSecret()
        }
        return secret
    }

    private func seal(_ secret: WebhookSecret) throws(CryptographyError) -> String {
        let sealed = try secret.sealed(by: box)
        return sealed.withUnsafeBytes { Base64URL.string(of: $0) }
    }

    /// All webhooks, the oldest first.
    ///
    /// - Throws: `PostgresError`.
    package func list() async throws -> [Webhook] {
        try await postgres.read("\(part: described) ORDER BY id").map(Webhook.init)
    }

    /// One webhook; nil when there is none.
    ///
    /// - Throws: `PostgresError`.
    package func find(_ id: Int) async throws -> Webhook? {
        try await postgres.read("\(part: described) WHERE id = \(id)").first.map(Webhook.init)
    }

    /// Disables a webhook.
    ///
    /// From then on, the webhook gets no events. Each event that waits is dropped at its next try, unless the webhook is enabled again
    /// before that.
    ///
    /// - Returns: Whether it was enabled.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func disable(_ id: Int, because reason: Webhook.DisabledReason) async throws -> Bool {
        try await postgres.write(
            """
            UPDATE webhooks SET disabled_at = now() AT TIME ZONE 'UTC', disabled_reason = \(reason.rawValue)
            WHERE id = \(id) AND disabled_at IS NULL
            """
        ) > 0
    }

    /// Enables a webhook.
    ///
    /// - Returns: Whether it was disabled.
    /// - Throws: `PostgresError`.
    package func enable(_ id: Int) async throws -> Bool {
        try await postgres.write(
            """
            UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL
            WHERE id = \(id) AND disabled_at IS NOT NULL
            """
        ) > 0
    }

    /// Gives a webhook another secret.
    ///
    /// The one before signs as well for a day.
    ///
    /// - Returns: The secret, which nobody can see later; nil when there is no such webhook.
    /// - Throws: `PostgresError`, `CryptographyError`.
    package func rotate(_ id: Int) async throws -> WebhookSecret? {
        let secret = WebhookSecret.make()
        let sealed = try seal(secret)
        let count = try await postgres.write(
            """
            UPDATE webhooks SET secret = \(sealed), former_secret = secret,
                former_secret_ends_at = now() AT TIME ZONE 'UTC' + make_interval(hours => \(Self.formerSecretHours)::int)
            WHERE id = \(id)
            """
        )
        return count > 0 ? secret : nil
    }

    /// Removes a webhook, and what waits for it.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `PostgresError`.
    package func remove(_ id: Int) async throws -> Bool {
        try await postgres.withTransaction { connection in
            try await connection.execute(DeliveryStore.removal(of: .webhook, target: "webhook:\(id)"))
            return try await connection.query("DELETE FROM webhooks WHERE id = \(id) RETURNING id").count > 0
        }
    }

    private var described: PostgresQuery {
        """
        SELECT id::bigint AS id, url, events, is_full, created_at, failing_since, disabled_at, disabled_reason,
            CASE WHEN former_secret_ends_at > now() AT TIME ZONE 'UTC' THEN former_secret_ends_at END
                AS former_secret_ends_at,
            (SELECT count(*) FROM (
                SELECT FROM deliveries WHERE channel = 'webhook' AND target = 'webhook:' || webhooks.id
                    AND failed_at IS NULL LIMIT \(maxWaitingCount + 1)
            ) AS waiting) AS waiting_count
        FROM webhooks
        """
    }

    // MARK: - For tries

    /// A webhook as a try needs it.
    struct Receiver: Sendable {
        let url: WebhookURL
        let isFull: Bool
        /// The present one first.
        let secrets: [WebhookSecret]
    }

    /// The secrets of a webhook, the present one first; nil when there is none.
    ///
    /// - Throws: ``OtherSecret``, `PostgresError`.
    package func secrets(_ id: Int) async throws -> [WebhookSecret]? {
        try await receiver("id = \(id)")?.secrets
    }

    /// The receiver of a webhook; nil when it is gone, or disabled.
    ///
    /// - Throws: ``OtherSecret``, `PostgresError`.
    func receiver(_ id: Int) async throws -> Receiver? {
        try await receiver("id = \(id) AND disabled_at IS NULL")
    }

    private func receiver(_ condition: PostgresQuery) async throws -> Receiver? {
        let row = try await postgres.read(
            """
            SELECT url, is_full, secret,
                CASE WHEN former_secret_ends_at > now() AT TIME ZONE 'UTC' THEN former_secret END AS former
            FROM webhooks WHERE \(part: condition)
            """
        ).first
        guard let row, let url = WebhookURL(try row.decode("url")) else { return nil }
        let former: String? = try row.decodeIfPresent("former")
        let sealed = [try row.decode("secret", as: String.self)] + [former].compactMap(\.self)
        return Receiver(
            url: url,
            isFull: try row.decode("is_full"),
            secrets: try sealed.map(open)
        )
    }

    /// Notes that a receiver has taken an event.
    ///
    /// - Throws: `PostgresError`.
    func noteSuccess(_ id: Int) async throws {
        try await postgres.write(
            "UPDATE webhooks SET failing_since = NULL WHERE id = \(id) AND failing_since IS NOT NULL"
        )
    }

    /// Notes that a try has failed.
    ///
    /// - Returns: Whether the webhook was disabled for that.
    /// - Throws: `PostgresError`.
    func noteFailure(_ id: Int) async throws -> Bool {
        try await postgres.write(
            """
            UPDATE webhooks SET failing_since = now() AT TIME ZONE 'UTC' WHERE id = \(id) AND failing_since IS NULL
            """
        )
        return try await postgres.write(
            """
            UPDATE webhooks SET disabled_at = now() AT TIME ZONE 'UTC', disabled_reason = 'failing'
            WHERE id = \(id) AND disabled_at IS NULL
                AND failing_since <= now() AT TIME ZONE 'UTC' - make_interval(days => \(Self.maxFailingDays)::int)
            """
        ) > 0
    }

    /// Disables webhooks for which too many events wait, and forgets old secrets.
    ///
    /// - Returns: The ids of those that were disabled.
    /// - Throws: `PostgresError`.
    package func tidy() async throws -> [Int] {
        try await postgres.write(
            """
            UPDATE webhooks SET former_secret = NULL, former_secret_ends_at = NULL
            WHERE former_secret_ends_at <= now() AT TIME ZONE 'UTC'
            """
        )
        var disabled: [Int] = []
        for webhook in try await list() where webhook.waitingCount > maxWaitingCount {
            if try await disable(webhook.id, because: .failing) { disabled.append(webhook.id) }
            // Otherwise it would be disabled for them again as soon as it is enabled.
            try await postgres.writeInBatches { rowCount in
                DeliveryStore.refusal(
                    of: .webhook,
                    target: "webhook:\(webhook.id)",
                    because: "disabled",
                    rowCount: rowCount
                )
            }
        }
        return disabled
    }
}

extension Webhook {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row.decode("id"),
            url: try row.decode("url"),
            events: try row.decode("events"),
            isFull: try row.decode("is_full"),
            createdAt: try row.decode("created_at"),
            formerSecretEndsAt: try row.decodeIfPresent("former_secret_ends_at"),
            failingSince: try row.decodeIfPresent("failing_since"),
            disabledAt: try row.decodeIfPresent("disabled_at"),
            disabledReason: try row.decodeIfPresent("disabled_reason", as: String.self).flatMap(DisabledReason.init),
            waitingCount: try row.decode("waiting_count")
        )
    }
}
