import Deliveries
import Postgres
import SelfieRecords

/// Tells the next subscriptions of a change: it adds a delivery for each device, and notes who gets a mail.
///
/// It is one statement, so that all of it holds or nothing. It walks along the subscriptions in the order of filters and ids.
struct SpreadStatement {
    let cause: ChangeCause
    /// The platforms to which pushes can be sent.
    let platforms: [Device.Platform]
    /// Whether mails can be sent.
    let sendsMail: Bool

    /// How many subscriptions one statement looks at.
    static let pageCount = 500
    /// How many pushes wait for a device at most: the oldest is given up for the newest.
    static let maxWaitingPerDevice = 20

    /// The statement; it has one row.
    ///
    /// Its columns are `last_filter` and `last_id`, which are NULL after the last page, `given_up_count`, and arrays of those who
    /// get a mail: `mail_users` and `mail_subscriptions`, with `mail_kinds`.
    var text: PostgresQuery {
        let filters = cause.filters.compactMap { id, kind in Int(id).map { (id: $0, kind: kind.rawValue) } }
        return """
            WITH page AS MATERIALIZED (
                SELECT subscription.*, asked.kind FROM unnest(\(filters.map(\.id)), \(filters.map(\.kind))) AS asked (id, kind)
                CROSS JOIN LATERAL (
                    SELECT id, filter_id, user_id, kinds, is_once, fired_at, channel, collapse FROM subscriptions
                    WHERE filter_id = asked.id
                        AND (filter_id, id) > (\(cause.told?.filter ?? 0), \(cause.told?.id ?? 0))
                    ORDER BY filter_id, id LIMIT \(Self.pageCount)
                ) AS subscription
                ORDER BY filter_id, id LIMIT \(Self.pageCount)
            ), device AS MATERIALIZED (
                SELECT devices.id, devices.user_id, platform FROM devices
                WHERE user_id IN (SELECT user_id FROM page) AND platform = ANY(\(platforms.map(\.rawValue)))
                    AND session_id IS DISTINCT FROM \(cause.session)::bigint AND \(part: DeviceStore.isActive("devices"))
            ), told AS MATERIALIZED (
                SELECT page.* FROM page JOIN users ON users.id = page.user_id AND users.disabled_at IS NULL
                JOIN streams ON streams.id = \(cause.stream) AND \(part: ToldChange.isShown("streams", to: "page.user_id"))
                WHERE kind = ANY(kinds) AND NOT EXISTS (
                    SELECT FROM role_members JOIN roles ON roles.id = role_id
                    WHERE role_id = \(cause.toldElsewhere)::bigint AND user_id = page.user_id AND roles.disabled_at IS NULL
                ) AND NOT (is_once AND fired_at IS NOT NULL) AND EXISTS (
                    SELECT FROM grants WHERE collection_id = \(cause.collection) AND record_key = \(cause.key)
                        AND stream_id = \(cause.stream) AND (rights % 2 = 1 OR kind = 'deleted')
                ) AND CASE channel
                    WHEN 'push' THEN page.user_id IN (SELECT user_id FROM device)
                    ELSE \(sendsMail) AND page.user_id IS DISTINCT FROM \(cause.author)::bigint AND users.email_verified_at IS NOT NULL
                END
            ), unfired AS MATERIALIZED (
                SELECT id FROM subscriptions WHERE id IN (SELECT id FROM told WHERE is_once) AND fired_at IS NULL
                ORDER BY id FOR NO KEY UPDATE
            ), fired AS (
                UPDATE subscriptions SET fired_at = now() AT TIME ZONE 'UTC' FROM unfired WHERE subscriptions.id = unfired.id
                RETURNING subscriptions.id
            ), due AS MATERIALIZED (
                SELECT * FROM told WHERE NOT is_once OR id IN (SELECT id FROM fired)
            ), push AS MATERIALIZED (
                SELECT device.platform, 'device:' || device.id AS target, device.id AS device_id, due.*
                FROM due JOIN device USING (user_id) WHERE channel = 'push'
            ), replaced AS (
                DELETE FROM deliveries WHERE id IN (\(part: Self.replaced)) RETURNING id
            ), given_up AS (
                DELETE FROM deliveries WHERE id IN (\(part: Self.givenUp)) RETURNING id
            ), added AS (
                \(part: DeliveryStore.insertion(selecting: added))
            )
            SELECT last.filter_id AS last_filter, last.id AS last_id, (SELECT count(*) FROM given_up) AS given_up_count,
                mail.users AS mail_users, mail.subscriptions AS mail_subscriptions, mail.kinds AS mail_kinds
            FROM (
                SELECT coalesce(array_agg(user_id::bigint ORDER BY user_id, id), ARRAY[]::bigint[]) AS users,
                    coalesce(array_agg(id ORDER BY user_id, id), ARRAY[]::bigint[]) AS subscriptions,
                    coalesce(array_agg(kind ORDER BY user_id, id), ARRAY[]::text[]) AS kinds
                FROM due WHERE channel = 'mail'
            ) AS mail
            LEFT JOIN (
                SELECT filter_id, id FROM page WHERE (SELECT count(*) FROM page) = \(Self.pageCount)
                ORDER BY filter_id DESC, id DESC LIMIT 1
            ) AS last ON true
            """
    }

    /// Selects the new pushes.
    private var added: PostgresQuery {
        """
        SELECT gen_random_uuid() AS id, platform AS channel, target, jsonb_build_object('kind', kind, 'subscription', push.id,
                'device', device_id, 'stream', \(cause.stream)::bigint, 'collection', \(cause.collection)::bigint,
                'key', \(cause.key)::bigint) AS cause,
            now() AT TIME ZONE 'UTC' AS due_at
        FROM push
        """
    }

    /// Selects the pushes that wait with the same key as new ones, which replace them.
    private static let replaced: PostgresQuery = """
        SELECT waiting.id FROM push AS new
        CROSS JOIN LATERAL (
            SELECT older.id FROM deliveries AS older
            JOIN subscriptions ON subscriptions.id = (cause->>'subscription')::bigint
            WHERE \(part: DeliveryStore.isWaiting("older")) AND older.channel = new.platform AND older.target = new.target
                AND subscriptions.collapse = new.collapse
            FOR UPDATE OF older SKIP LOCKED
        ) AS waiting
        WHERE new.collapse IS NOT NULL
        """

    /// Selects the oldest pushes where too many wait for a device, those with a key of new ones left out.
    private static let givenUp: PostgresQuery = """
        SELECT waiting.id FROM (SELECT DISTINCT platform, target FROM push) AS new
        CROSS JOIN LATERAL (
            SELECT id FROM deliveries AS older
            WHERE \(part: DeliveryStore.isWaiting("older")) AND older.channel = new.platform AND older.target = new.target
                AND id NOT IN (SELECT id FROM replaced)
            ORDER BY created_at DESC, id OFFSET \(maxWaitingPerDevice - 1) FOR UPDATE SKIP LOCKED
        ) AS waiting
        """
}
