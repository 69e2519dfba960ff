import Foundation
import SelfieClient

/// A device that gets pushes.
struct RegisteredDevice: Sendable {
    let token: String
    let userID: String
    let sessionID: Int
    let platform: Device.Platform
    let environment: Device.Environment
    let topic: String?
    let badge: Int
    let registeredAt: Date

    func json(currentSession: Int?) -> JSONValue {
        [
            "device": .string(token), "platform": .string(platform.rawValue),
            "environment": .string(environment.rawValue), "topic": JSONValue(topic), "badge": JSONValue(badge),
            "registered_at": JSONValue(registeredAt), "current": .bool(sessionID == currentSession),
        ]
    }
}

/// All devices.
///
/// A token belongs to the session that has registered it last, and ends with it.
struct Devices: Sendable {
    private var byToken: [String: RegisteredDevice] = [:]

    subscript(token: String) -> RegisteredDevice? { byToken[token] }

    mutating func register(_ device: RegisteredDevice) { byToken[device.token] = device }

    mutating func remove(_ token: String) { byToken[token] = nil }

    mutating func remove(ofSessions ids: Set<Int>) {
        byToken = byToken.filter { !ids.contains($0.value.sessionID) }
    }

    /// A user's devices, the oldest first.
    func list(of userID: String) -> [RegisteredDevice] {
        byToken.values.filter { $0.userID == userID }.sorted { $0.registeredAt < $1.registeredAt }
    }
}
