import Testing

@testable import SelfieAccounts

@Suite("Limits, as settings spell them")
struct RateLimitSpellingTests {
    @Test(
        "A limit is a count and a time",
        arguments: [
            ("10/15m", RateLimit(10, per: 900)), ("1/1s", RateLimit(1, per: 1)), ("500/2h", RateLimit(500, per: 7_200)),
            ("3/30d", RateLimit(3, per: 2_592_000)), ("", nil), ("10", nil), ("10/", nil), ("/1h", nil), ("0/1h", nil),
            ("10/0s", nil), ("-1/1h", nil), ("10/1w", nil), ("10/31d", nil), ("10/1h/2", nil), ("ten/1h", nil),
            ("+5/5m", nil), ("5/+5m", nil),
            ("1000001/1h", nil), ("10/99999999999999999999d", nil), ("1/9223372036854775807d", nil),
        ] as [(String, RateLimit?)]
    )
    func spelling(text: String, limit: RateLimit?) {
        #expect(RateLimit(text) == limit)
    }
}
