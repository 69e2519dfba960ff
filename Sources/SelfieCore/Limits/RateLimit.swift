/// How often something may be done in a window of time.
package struct RateLimit: Sendable, Equatable {
    package let count: Int
    package let seconds: Int

    private static let secondsByUnit: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    private static let maxCount = 1_000_000
    /// A month.
    private static let maxSeconds = 30 * 86_400

    /// How a limit is written, for errors.
    package static let expected = """
        a count from 1 to \(maxCount), a slash and a time from 1s to 30d, in s, m, h or d, such as 10/15m
        """

    init(_ count: Int, per seconds: Int) {
        self.count = count
        self.seconds = seconds
    }

    /// Reads a limit such as `10/15m`: a count, and a number with s, m, h or d behind it.
    package init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard !text.contains("+"), halves.count == 2, let count = Int(halves[0]), (1...Self.maxCount).contains(count),
            let unit = halves[1].last.flatMap({ Self.secondsByUnit[$0] }),
            let number = Int(halves[1].dropLast()), (1...Self.maxSeconds).contains(number),
            number * unit <= Self.maxSeconds
        else { return nil }
        self.init(count, per: number * unit)
    }
}

/// The limits of a service.
package struct RateLimits: Sendable, Equatable {
    /// Wrong passwords for one account.
    ///
    /// Those from a network that its user signed in from count apart.
    var signInPerAccount = RateLimit(20, per: 15 * 60)
    /// Wrong passwords from one address, for any accounts.
    var signInPerAddress = RateLimit(100, per: 15 * 60)
    /// Sign-ups from one address.
    var signUpPerAddress = RateLimit(30, per: 3_600)
    /// Calls of `get_token` from one address.
    var getTokenPerAddress = RateLimit(100, per: 15 * 60)
    /// Unknown tokens from one address.
    var tokenGuessesPerAddress = RateLimit(100, per: 15 * 60)
    /// Uploads of one user.
    var uploadsPerUser = RateLimit(500, per: 3_600)

    /// Each limit with the key of its setting.
    package static let settings: [(key: String, limit: any WritableKeyPath<RateLimits, RateLimit> & Sendable)] = [
        ("RATE_LIMIT_SIGNIN_PER_ACCOUNT", \.signInPerAccount),
        ("RATE_LIMIT_SIGNIN_PER_ADDRESS", \.signInPerAddress),
        ("RATE_LIMIT_SIGNUP_PER_ADDRESS", \.signUpPerAddress),
        ("RATE_LIMIT_GET_TOKEN_PER_ADDRESS", \.getTokenPerAddress),
        ("RATE_LIMIT_TOKEN_GUESSES_PER_ADDRESS", \.tokenGuessesPerAddress),
        ("RATE_LIMIT_UPLOADS_PER_USER", \.uploadsPerUser),
    ]

    /// The usual limits.
    ///
    /// Change single values after making this.
    package init() {}
}
