import Encodings
import SelfieCore

extension SettingsReader {
    /// The limits; nil when they are off.
    mutating func rateLimits() -> RateLimits? {
        var limits = RateLimits()
        for (key, limit) in RateLimits.settings {
            if let value = optional(key, RateLimit.expected, parse: { RateLimit($0) }) {
                limits[keyPath: limit] = value
            }
        }
        let isOn = optional("RATE_LIMITS", "on or off") { Bool(settingText: $0) } ?? true
        return isOn ? limits : nil
    }
}
