package import FoundationEssentials

/// A push for one device, as Apple takes it.
///
/// Source: Apple, "Sending notification requests to APNs".
package struct APNsRequest: Sendable {
    /// How the device shows it; it must fit the payload.
    package enum Kind: String, Sendable {
        case alert
        /// Nothing is shown, and the device may deliver it later.
        case background
    }

    /// The same in all tries.
    package let id: UUID
    /// Hexadecimal digits.
    package let deviceToken: String
    /// The app's bundle id.
    package let topic: String
    package let kind: Kind
    /// Later pushes with the same text replace this one; at most 64 bytes.
    package let collapseID: String?
    /// JSON, at most ``maxPayloadBytes``.
    package let payload: String
    /// When Apple gives it up.
    package let expiresAt: Date

    package static let maxPayloadBytes = 4_096
    package static let maxCollapseBytes = 64

    package init(
        id: UUID,
        deviceToken: String,
        topic: String,
        kind: Kind,
        collapseID: String?,
        payload: String,
        expiresAt: Date
    ) {
        (self.id, self.deviceToken, self.topic, self.kind) = (id, deviceToken, topic, kind)
        (self.collapseID, self.payload, self.expiresAt) = (collapseID, payload, expiresAt)
    }
}

/// What Apple has said of a push.
package struct APNsAnswer: Sendable, Equatable {
    package let status: Int
    /// A word, such as `BadDeviceToken`; nil for none.
    package let reason: String?
    /// With 410: since when the device token is not valid.
    package let invalidSince: Date?
    /// How long Apple asks to wait.
    package let retryAfter: Duration?

    package init(status: Int, reason: String? = nil, invalidSince: Date? = nil, retryAfter: Duration? = nil) {
        (self.status, self.reason, self.invalidSince, self.retryAfter) = (status, reason, invalidSince, retryAfter)
    }

    /// What is to be done.
    package enum Verdict: Sendable, Equatable {
        case accepted
        /// The token may be for the other environment.
        case otherEnvironment
        /// The device is gone, unless it was registered later.
        case gone(since: Date)
        /// The token is for another app.
        case otherApp
        /// The provider token is too old.
        case expiredToken
        /// It may be taken later.
        case notNow
        /// It will never be taken.
        case refused
    }

    /// Source: Apple, "Handling notification responses from APNs".
    package var verdict: Verdict {
        switch (status, reason) {
        case (200, _): .accepted
        case (400, "BadDeviceToken"): .otherEnvironment
        case (400, "DeviceTokenNotForTopic"): .otherApp
        case (403, "ExpiredProviderToken"): .expiredToken
        // The key, the team or the topic's rights: an operator can mend that.
        case (403, _): .notNow
        case (410, _): invalidSince.map { .gone(since: $0) } ?? .notNow
        case (429, _), (500..., _): .notNow
        // Idle time-outs and such are no fault of the push.
        case (408, _), (400, "IdleTimeout"): .notNow
        default: .refused
        }
    }
}
