import Encodings
package import FoundationEssentials

/// A device that gets a user's pushes.
package struct Device: Sendable, Encodable {
    package enum Platform: String, Sendable, CaseIterable, Encodable {
        /// Apple's service.
        case apns
        /// Google's service.
        case fcm
    }

    /// Apple's two services: a device token is valid in one.
    package enum Environment: String, Sendable, CaseIterable, Encodable {
        /// For apps of the App Store and TestFlight.
        case production
        /// For apps that Xcode has installed.
        case sandbox

        var other: Environment { self == .production ? .sandbox : .production }
    }

    package let id: Int
    /// The session that registered it, and ends it.
    package let sessionID: Int
    package let platform: Platform
    package let token: String
    package let environment: Environment
    /// The app's bundle id; nil for the setting's.
    package let topic: String?
    /// What the app's icon shows.
    package let badge: Int
    package let registeredAt: Date

    /// How many devices a user may have.
    package static let maxCount = 20
    /// What a badge can show.
    package static let badges = 0...9_999
}

/// A device to register.
package struct NewDevice: Sendable {
    let platform: Device.Platform
    let token: String
    let environment: Device.Environment
    let topic: String?
    let badge: Int?

    /// - Parameters:
    ///   - platform: Whose service reaches it.
    ///   - token: As ``token(_:of:)`` made it.
    ///   - environment: Which of Apple's services.
    ///   - topic: The app's bundle id; nil for the setting's.
    ///   - badge: What the app's icon shows; nil to leave that as it is.
    package init(
        platform: Device.Platform,
        token: String,
        environment: Device.Environment,
        topic: String?,
        badge: Int?
    ) {
        (self.platform, self.token, self.environment) = (platform, token, environment)
        (self.topic, self.badge) = (topic, badge)
    }

    /// The form in which a device token is stored.
    ///
    /// - Parameters:
    ///   - text: As a client has sent it.
    ///   - platform: Whose it is.
    /// - Returns: Apple's in lower case; nil for a text that is none.
    package static func token(_ text: String, of platform: Device.Platform) -> String? {
        let bytes = text.utf8
        switch platform {
        case .apns:
            // Apple's have any length; today 32 bytes, in the simulator 80.
            guard (32...maxTokenBytes).contains(bytes.count), bytes.count.isMultiple(of: 2),
                bytes.allSatisfy({ $0.hexadecimalDigit != nil })
            else { return nil }
            return text.lowercased()
        case .fcm:
            guard (1...maxTokenBytes).contains(bytes.count) else { return nil }
            let isPlain = bytes.allSatisfy { $0.isASCIILetterOrDigit || [0x2D, 0x3A, 0x5F].contains($0) }
            return isPlain ? text : nil
        }
    }

    package static let maxTokenBytes = 512
}
