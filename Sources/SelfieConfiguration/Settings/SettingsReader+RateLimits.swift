import Encodings
import SelfieAccounts

extension SettingsReader {
    /// The limits; nil when they are off.
    mutating func rateLimits() -> RateLimits? {
        var limits = RateLimits()
        for name in RateLimitName.allCases {
            limits[name] = optional("RATE_LIMIT_\(name.rawValue)", RateLimit.expected, default: limits[name]) {
                RateLimit($0)
            }
        }
        let isOn = optional("RATE_LIMITS", "on or off", default: true) { Bool(settingText: $0) }
        return isOn ? limits : nil
    }
}
