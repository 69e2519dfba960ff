import Encodings
import SelfieCore

extension SettingsReader {
    /// The limits; nil when they are off.
    mutating func rateLimits() -> RateLimits? {
        var limits = RateLimits()
        for name in RateLimitName.allCases {
            let value = optional("RATE_LIMIT_\(name.rawValue)", RateLimit.expected) { RateLimit($0) }
            if let value { limits[name] = value }
        }
        let isOn = optional("RATE_LIMITS", "on or off") { Bool(settingText: $0) } ?? true
        return isOn ? limits : nil
    }
}
