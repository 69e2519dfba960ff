import Encodings
package import JSON
package import OrderedCollections
import SelfieAccounts

/// What a client sends about a device.
package struct DeviceFields: Sendable {
    private var platform: Device.Platform?
    private var environment = Device.Environment.production
    private var topic: String?
    private var badge: Int?
    private var validationErrors: [ValidationError] = []

    /// Reads the fields.
    ///
    /// - Parameters:
    ///   - members: The members of a JSON object.
    ///   - platforms: To which pushes can be sent.
    package init(_ members: OrderedDictionary<String, JSONValue>, platforms: [Device.Platform]) {
        for (name, value) in members {
            switch (name, value) {
            case ("platform", .string(let word)):
                platform = platforms.first { $0.rawValue == word }
                if platform == nil { add(name, .invalid) }
            case ("environment", .string(let word)):
                if let known = Device.Environment(rawValue: word) { environment = known } else { add(name, .invalid) }
            case ("topic", .null), ("badge", .null): break
            case ("topic", .string(let text)):
                if Self.isTopic(text) { topic = text } else { add(name, .invalid) }
            case ("badge", .number(let digits)):
                badge = Int(digits).flatMap { Device.badges.contains($0) ? $0 : nil }
                if badge == nil { add(name, .invalid) }
            case ("platform", _), ("environment", _), ("topic", _), ("badge", _): add(name, .invalid)
            default: add(name, .unknown)
            }
        }
        if members["platform"] == nil { add("platform", .blank) }
    }

    private mutating func add(_ name: String, _ reason: ValidationError.Reason) {
        validationErrors.append(ValidationError(.other(name), reason))
    }

    /// The device.
    ///
    /// - Parameter text: Its token, as the client has sent it.
    /// - Returns: The device.
    /// - Throws: `InvalidInput` with all rules that are broken.
    func device(token text: String) throws(InvalidInput) -> NewDevice {
        var errors = validationErrors
        let token = platform.flatMap { NewDevice.token(text, of: $0) }
        if platform != nil, token == nil { errors.append(ValidationError(.other("device_token"), .invalid)) }
        guard errors.isEmpty, let platform, let token else { throw InvalidInput(validationErrors: errors) }
        return NewDevice(platform: platform, token: token, environment: environment, topic: topic, badge: badge)
    }

    /// Whether a text may be a bundle id (Apple, "CFBundleIdentifier"); it becomes a header.
    private static func isTopic(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }
}
