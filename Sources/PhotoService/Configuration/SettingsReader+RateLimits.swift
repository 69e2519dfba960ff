extension SettingsReader {
    /// The limits; nil when they are off.
    mutating func rateLimits() -> RateLimits? {
        var limits = RateLimits()
        limit("RATE_LIMIT_SIGNIN_PER_ACCOUNT", &limits.signInPerAccount)
        limit("RATE_LIMIT_SIGNIN_PER_ADDRESS", &limits.signInPerAddress)
        limit("RATE_LIMIT_SIGNUP_PER_ADDRESS", &limits.signUpPerAddress)
        limit("RATE_LIMIT_GET_TOKEN_PER_ADDRESS", &limits.getTokenPerAddress)
        limit("RATE_LIMIT_TOKEN_GUESSES_PER_ADDRESS", &limits.tokenGuessesPerAddress)
        limit("RATE_LIMIT_UPLOADS_PER_USER", &limits.uploadsPerUser)
        let isOn = optional("RATE_LIMITS", "on or off") { Bool(settingText: $0) } ?? true
        return isOn ? limits : nil
    }

    private mutating func limit(_ key: String, _ limit: inout RateLimit) {
        limit = optional(key, RateLimit.expected) { RateLimit($0) } ?? limit
    }
}
