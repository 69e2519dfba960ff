public import Foundation

/// A device that gets the user's pushes.
public struct Device: Sendable, Hashable, Identifiable {
    /// The token that Apple or Google gave to it.
    ///
    /// It is in no description.
    public let id: String
    public let platform: Platform
    /// Whether it belongs to the session of this client.
    public let isCurrent: Bool

    /// Who sends the pushes.
    public enum Platform: String, Sendable, Hashable, Codable {
        case apns, fcm
    }

    /// Which of Apple's services knows the device.
    public enum Environment: String, Sendable, Hashable, Codable {
        /// Apps from the App Store and TestFlight.
        case production
        /// Apps that Xcode has installed.
        case sandbox
    }
}

extension Device: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id = "device"
        case platform
        case isCurrent = "current"
    }
}

extension Device: CustomStringConvertible, CustomReflectable {
    public var description: String { "a device of \(platform.rawValue)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Selfie {
    /// Registers this device for pushes by Apple.
    ///
    /// Call it at each start of the app, and after each sign-in.
    ///
    /// - Parameters:
    ///   - token: What `didRegisterForRemoteNotificationsWithDeviceToken` gets.
    ///   - environment: Which of Apple's services knows the device.
    ///   - topic: The app's bundle id, if it is not the service's.
    ///   - badge: What the app's icon shows now; nil leaves the service's count as it is.
    /// - Returns: The device as the service knows it.
    /// - Throws: ``SelfieError/notFound(_:)`` if the service sends no pushes.
    @discardableResult
    public func registerDevice(
        token: Data,
        environment: Device.Environment = .production,
        topic: String? = nil,
        badge: Int? = nil
    ) async throws -> Device {
        struct Body: Encodable {
            let platform = Device.Platform.apns
            let environment: Device.Environment, topic: String?, badge: Int?
        }
        return try await registerDevice(
            token.hexadecimal,
            Body(environment: environment, topic: topic, badge: badge)
        )
    }

    /// Registers this device for pushes by Google.
    ///
    /// - Parameters:
    ///   - token: What Firebase gives.
    ///   - badge: What the app's icon shows now; nil leaves the service's count as it is.
    /// - Returns: The device as the service knows it.
    /// - Throws: ``SelfieError/notFound(_:)`` if the service sends no pushes.
    @discardableResult
    public func registerDevice(fcmToken token: String, badge: Int? = nil) async throws -> Device {
        struct Body: Encodable {
            let platform = Device.Platform.fcm
            let badge: Int?
        }
        return try await registerDevice(token, Body(badge: badge))
    }

    private func registerDevice(_ token: String, _ body: some Encodable) async throws -> Device {
        var call = Call("PUT", api.url(["devices", token]))
        try call.send(body)
        return try await api.send(call)
    }

    /// The user's devices.
    public func devices() async throws -> [Device] {
        struct Answer: Decodable { let devices: [Device] }
        return try await api.send(Call("GET", api.url(["devices"])), as: Answer.self).devices
    }

    /// Ends the pushes to a device.
    ///
    /// If it is gone already, nothing happens.
    public func removeDevice(_ id: Device.ID) async throws {
        do {
            try await api.send(Call("DELETE", api.url(["devices", id])))
        } catch SelfieError.notFound {}
    }
}
