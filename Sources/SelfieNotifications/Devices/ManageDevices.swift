import Postgres
package import SelfieAccounts

/// Registers and removes devices.
package struct ManageDevices: Sendable {
    package let store: DeviceStore
    /// The platforms to which pushes can be sent.
    package let platforms: [Device.Platform]
    let limiter: RateLimiter

    /// Registers a device, or changes its registration.
    ///
    /// - Parameters:
    ///   - token: Its token, as the client has sent it.
    ///   - fields: The body of the call.
    ///   - session: The session that it belongs to.
    ///   - source: Where the request came from.
    /// - Returns: The device.
    /// - Throws: `InvalidInput`, `RateLimitExceeded`, `DeviceStore.TooMany`, `SessionError.ended`, `PostgresError`.
    package func register(
        _ token: String,
        _ fields: DeviceFields,
        by session: Session,
        from source: RequestSource
    ) async throws -> Device {
        try await limiter.count([.recordWrites(1, userID: session.userID)], ofUser: session.userID, from: source)
        return try await store.register(try fields.device(token: token), by: session)
    }

    /// Removes a user's device.
    ///
    /// - Parameters:
    ///   - token: Its token, as the client has sent it.
    ///   - userID: The user.
    ///   - source: Where the request came from.
    /// - Returns: Whether there was one.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    package func remove(_ token: String, ofUser userID: Int, from source: RequestSource) async throws -> Bool {
        try await limiter.count([.recordWrites(1, userID: userID)], ofUser: userID, from: source)
        let tokens = Device.Platform.allCases.reduce(into: [Device.Platform: String]()) { tokens, platform in
            tokens[platform] = NewDevice.token(token, of: platform)
        }
        return try await store.remove(tokens, ofUser: userID)
    }
}
