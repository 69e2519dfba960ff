import Testing

@testable import JSON

@Suite("Numbers in decimal form")
struct DecimalNumberTests {
    @Test(
        "Texts of one number have one canonical text, short integers and others alike",
        arguments: [
            ("0", "-0", "0"), ("7", "7.0", "7e0"), ("-250", "-2.5e2", "-25e1"), ("100", "1E+2", "1e2"),
            ("999999999999999", "999999999999999.0", "999999999999999e0"), ("1000000000000000", "1e15", "1e15"),
            ("-10", "-0.1e2", "-1e1"), ("123456789012345", "1234567890123450e-1", "123456789012345e0"),
        ]
    )
    func canonical(one: String, other: String, expected: String) {
        #expect(DecimalNumber(one).canonicalText == expected && DecimalNumber(other).canonicalText == expected)
        #expect(DecimalNumber(one).isInRange && DecimalNumber(other).isInRange)
    }

    @Test("What 64 bits of floating point do not hold is out of range", arguments: ["1e309", "-1e400", "1e-400"])
    func range(text: String) {
        #expect(!DecimalNumber(text).isInRange)
    }
}
