import FoundationEssentials
package import Postgres
package import SelfieAccounts

/// The table `devices`.
package struct DeviceStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// A user has as many devices as a user may have.
    package struct TooMany: Error {}

    /// Registers a device, or changes its registration.
    ///
    /// It belongs to whoever registered it last.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - session: The session that it belongs to.
    /// - Returns: The device.
    /// - Throws: ``TooMany``, `SessionError.ended`, `PostgresError`.
    package func register(_ device: NewDevice, by session: Session) async throws -> Device {
        try await postgres.withTransaction { connection in
            // Parallel calls of a user wait here for each other, so that they can't pass the limit together.
            let user = try await connection.query("SELECT id FROM users WHERE id = \(session.userID) FOR NO KEY UPDATE")
            let own = try await connection.query("SELECT id FROM sessions WHERE id = \(session.id) FOR KEY SHARE")
            guard !user.isEmpty, !own.isEmpty else { throw SessionError.ended }
            let rows = try await connection.query(
                """
                INSERT INTO devices AS old (session_id, user_id, platform, token, environment, topic, badge)
                SELECT \(session.id), \(session.userID), \(device.platform.rawValue), \(device.token),
                    \(device.environment.rawValue), \(device.topic), coalesce(\(device.badge)::bigint, 0)
                WHERE (
                    SELECT count(*) FROM devices WHERE user_id = \(session.userID)
                        AND (platform, token) <> (\(device.platform.rawValue), \(device.token))
                ) < \(Device.maxCount)
                ON CONFLICT (platform, token) DO UPDATE SET session_id = excluded.session_id, user_id = excluded.user_id,
                    environment = excluded.environment, topic = excluded.topic,
                    badge = CASE WHEN \(device.badge)::bigint IS NULL AND old.user_id = excluded.user_id THEN old.badge
                        ELSE excluded.badge END,
                    registered_at = excluded.registered_at
                RETURNING \(part: Self.columns)
                """
            )
            guard let row = rows.first else { throw TooMany() }
            return try Device(row)
        }
    }

    /// A user's devices, the first registered first; none of sessions that have expired.
    ///
    /// - Throws: `PostgresError`.
    package func list(ofUser userID: Int) async throws -> [Device] {
        try await postgres.read(
            """
            SELECT \(part: Self.columns) FROM devices WHERE user_id = \(userID) AND \(part: Self.isActive("devices"))
            ORDER BY id
            """
        ).map(Device.init)
    }

    /// Removes a user's device.
    ///
    /// - Parameters:
    ///   - tokens: Its token, in the form of each platform.
    ///   - userID: The user.
    /// - Returns: Whether there was one.
    /// - Throws: `PostgresError`.
    package func remove(_ tokens: [Device.Platform: String], ofUser userID: Int) async throws -> Bool {
        let tokens = Array(tokens)
        return try await postgres.write(
            """
            DELETE FROM devices WHERE user_id = \(userID) AND (platform, token) IN (
                SELECT * FROM unnest(\(tokens.map(\.key.rawValue)), \(tokens.map(\.value)))
            )
            """
        ) > 0
    }

    /// Removes a device that its service does not know any more, unless it was registered again meanwhile.
    ///
    /// - Returns: Whether it was removed.
    /// - Throws: `PostgresError`.
    func remove(_ device: Device) async throws -> Bool {
        try await postgres.write("DELETE FROM devices WHERE \(part: Self.isUnchanged(device))") > 0
    }

    /// Notes in which of Apple's services a device token is valid.
    ///
    /// - Throws: `PostgresError`.
    func note(_ environment: Device.Environment, of device: Device) async throws {
        try await postgres.write(
            "UPDATE devices SET environment = \(environment.rawValue) WHERE \(part: Self.isUnchanged(device))"
        )
    }

    /// Counts the number on an app's icon up.
    ///
    /// - Returns: The number; nil when the device is gone.
    /// - Throws: `PostgresError`.
    static func countBadge(of device: Device, on connection: PostgresConnection) async throws -> Int? {
        try await connection.query(
            """
            UPDATE devices SET badge = least(badge + 1, \(Device.badges.upperBound)) WHERE id = \(device.id)
            RETURNING badge
            """
        ).first?.decode("badge")
    }

    /// Whether a row is as it was read: a registration takes a new time.
    private static func isUnchanged(_ device: Device) -> PostgresQuery {
        "id = \(device.id) AND registered_at = \(device.registeredAt) AND session_id = \(device.sessionID)"
    }

    /// The condition that the session of a row of `devices` has not expired, nor its user been disabled.
    static func isActive(_ devices: StaticString) -> PostgresQuery {
        PostgresQuery(
            stringLiteral: """
                EXISTS (
                    SELECT FROM sessions JOIN users ON users.id = sessions.user_id
                    WHERE sessions.id = \(devices).session_id AND sessions.user_id = \(devices).user_id
                        AND sessions.expires_at > now() AT TIME ZONE 'UTC' AND users.disabled_at IS NULL
                )
                """
        )
    }

    static let columns = columns("")

    /// The columns of an alias of the table, such as `devices.`.
    static func columns(_ prefix: StaticString) -> PostgresQuery {
        PostgresQuery(
            stringLiteral: """
                \(prefix)id AS device_id, \(prefix)session_id, \(prefix)platform, \(prefix)token, \(prefix)environment, \
                \(prefix)topic, \(prefix)badge AS device_badge, \(prefix)registered_at
                """
        )
    }
}

extension Device {
    /// - Parameter row: Has ``DeviceStore/columns``.
    /// - Throws: `PostgresError`.
    init(_ row: PostgresRow) throws {
        self.init(
            id: try row.decode("device_id"),
            sessionID: try row.decode("session_id"),
            platform: Platform(rawValue: try row.decode("platform")) ?? .apns,
            token: try row.decode("token"),
            environment: Environment(rawValue: try row.decode("environment")) ?? .production,
            topic: try row.decodeIfPresent("topic"),
            badge: try row.decode("device_badge"),
            registeredAt: try row.decode("registered_at")
        )
    }
}
