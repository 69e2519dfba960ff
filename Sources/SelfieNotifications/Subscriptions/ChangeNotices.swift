import Deliveries
import FoundationEssentials
import JSON
import OrderedCollections
import Postgres
import SelfieRecords

/// Mails that tell a user what has changed in a collection, gathered for a minute.
enum ChangeNotices {
    /// The kind of their deliveries.
    static let kind = "records_changed"
    /// They take turns with other mails as one target.
    static let target = "changes"
    /// How many changes a mail names.
    ///
    /// Of more, it says that there are some.
    static let maxCount = 32
    /// For how long changes are gathered.
    private static let seconds = 60
    /// How many minutes back a mail is looked for that still waits, so that few wait when the mail server is down.
    private static let maxMinutes = 60

    /// Adds a change to the mails that wait, or begins new ones.
    ///
    /// A mail's id follows from its user, its collection and a minute. So two processes find the same one.
    ///
    /// - Throws: `PostgresError`.
    static func add(
        _ cause: ChangeCause,
        users: [Int],
        subscriptions: [Int],
        kinds: [String],
        on connection: PostgresConnection
    ) async throws {
        // A mail may be on its way out already. Then the change comes with the next.
        var left = zip(users, zip(subscriptions, kinds)).map { ($0, $1.0, $1.1) }
        for minute in 0..<3 where !left.isEmpty {
            let told = Set(try await add(left, cause, minutesAhead: minute, on: connection))
            left.removeAll { told.contains($0.1) }
        }
        if !left.isEmpty { throw Busy() }
    }

    /// All mails that could tell of a change are on their way out.
    private struct Busy: Error {}

    /// - Returns: The subscriptions whose mails could be changed.
    private static func add(
        _ told: [(user: Int, subscription: Int, kind: String)],
        _ cause: ChangeCause,
        minutesAhead: Int,
        on connection: PostgresConnection
    ) async throws -> [Int] {
        try await connection.query(
            """
            WITH told AS MATERIALIZED (
                SELECT user_id, array_agg(subscription) AS subscriptions, max(number) > \(Self.maxCount) AS has_more, jsonb_agg(
                    jsonb_build_object('stream', \(cause.stream)::bigint, 'key', \(cause.key)::bigint, 'of', subscription,
                        'kind', kind) ORDER BY subscription
                ) FILTER (WHERE number <= \(Self.maxCount)) AS changes
                FROM (
                    SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY subscription) AS number
                    FROM unnest(\(told.map(\.user)), \(told.map(\.subscription)), \(told.map(\.kind)))
                        AS new (user_id, subscription, kind)
                ) AS new GROUP BY user_id
            ), minute AS (
                SELECT floor(extract(epoch FROM now()) / \(Self.seconds)::bigint)::bigint + \(minutesAhead) AS number
            ), mail AS MATERIALIZED (
                SELECT told.*, coalesce((
                    SELECT deliveries.id FROM generate_series(0, \(Self.maxMinutes - 1)) AS ago
                    JOIN deliveries ON deliveries.id = \(part: Self.id(cause.collection, minutesAgo: "ago"))
                    WHERE claimed_until IS NULL AND failed_at IS NULL ORDER BY ago LIMIT 1
                ), \(part: Self.id(cause.collection, minutesAgo: "0"))) AS id
                FROM told CROSS JOIN minute ORDER BY user_id
            ), added AS (
                \(part: DeliveryStore.insertion(selecting: mails(cause)))
                ON CONFLICT (id) DO UPDATE SET cause = CASE
                    WHEN old.cause->'changes' @> (excluded.cause->'changes') THEN old.cause
                    WHEN jsonb_array_length(old.cause->'changes') + jsonb_array_length(excluded.cause->'changes')
                        <= \(Self.maxCount) THEN jsonb_set(
                        old.cause, '{changes}', (old.cause->'changes') || (excluded.cause->'changes')
                    )
                    ELSE old.cause || '{"more": true}' END
                WHERE old.claimed_until IS NULL AND old.failed_at IS NULL
                RETURNING id
            )
            SELECT unnest(subscriptions) AS subscription FROM mail JOIN added USING (id)
            """
        ).map { try $0.decode("subscription") }
    }

    /// Selects the mails.
    private static func mails(_ cause: ChangeCause) -> PostgresQuery {
        """
        SELECT id, 'mail' AS channel, \(target)::text AS target, jsonb_build_object('kind', \(kind)::text, 'user', user_id,
                'collection', \(cause.collection)::bigint, 'changes', changes)
                || CASE WHEN has_more THEN '{"more": true}' ELSE '{}'::jsonb END AS cause,
            to_timestamp((number + 1) * \(seconds)::bigint) AT TIME ZONE 'UTC' AS due_at
        FROM mail CROSS JOIN minute
        """
    }

    /// The id of a mail, of the tables `told` and `minute`.
    private static func id(_ collection: Int, minutesAgo: StaticString) -> PostgresQuery {
        PostgresQuery(
            stringLiteral: """
                md5('changes \(collection) ' || told.user_id || ' ' || (minute.number - \(minutesAgo)))::uuid
                """
        )
    }
}
