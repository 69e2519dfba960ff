import RecordSchema
import Testing

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "Times of RFC 3339 are read to the millisecond",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-24T10:00:00.123Z", 1_795_514_400_123),
            ("1970-01-01T00:00:01.5Z", 1_500), ("1970-01-01T02:00:00+02:00", 0),
            ("1970-01-01T00:00:00.001999999Z", 1), ("1969-12-31T23:59:59.999-00:00", -1),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ]
    )
    func right(text: String, milliseconds: Int) {
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test(
        "Other forms are refused",
        arguments: [
            "", "today", "2026-11-24", "2026-11-24T10:00:00", "20261124T100000Z", "2026-11-24 10:00:00Z",
            "2026-11-24T10:00:00Zx", "2026-11-24T10:00:00.Z", "2026-11-24T10:00:00.1234567890Z",
            "2026-11-24T10:00:00+0200",
            "99999999999999999-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-24T10:00:00\0",
        ]
    )
    func wrong(text: String) {
        #expect(Timestamp(text) == nil)
    }
}
