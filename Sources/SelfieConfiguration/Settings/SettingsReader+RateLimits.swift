import Encodings
import SelfieAccounts

extension SettingsReader {
    /// The limits, and whether all of them hold: those of an account's codes always do.
    mutating func rateLimits() -> (limits: RateLimits, areOn: Bool) {
        var limits = RateLimits()
        for name in RateLimitName.allCases {
            limits[name] = optional("RATE_LIMIT_\(name.rawValue)", RateLimit.expected, default: limits[name]) {
                RateLimit($0)
            }
        }
        let isOn = optional("RATE_LIMITS", "on or off", default: true) { Bool(settingText: $0) }
        return (limits, isOn)
    }
}
