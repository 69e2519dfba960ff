import Testing

@testable import SelfieWeb

@Suite("Ranges that clients ask for")
struct RequestedRangeTests {
    private static let allParts: [(header: String, range: Range<Int>)] = [
        ("bytes=0-0", 0..<1), ("bytes=0-99", 0..<100), ("bytes=10-19", 10..<20), ("bytes=99-99", 99..<100),
        ("bytes=0-100", 0..<100), ("bytes=99-1000", 99..<100), ("bytes=0-99999999999999999999", 0..<100),
        ("bytes=0-", 0..<100), ("bytes=99-", 99..<100), ("bytes=007-008", 7..<9),
        ("bytes=-1", 99..<100), ("bytes=-100", 0..<100), ("bytes=-101", 0..<100),
        ("bytes=-99999999999999999999", 0..<100),
        ("Bytes=1-2", 1..<3), ("BYTES=1-2", 1..<3), ("bytes= 1-2\t", 1..<3),
    ]

    @Test("A single range is taken, cut at the end of what there is", arguments: allParts)
    func parts(header: String, range: Range<Int>) {
        #expect(RequestedRange(header, length: 100) == .part(range))
    }

    private static let allMalformed = [
        "", "bytes", "bytes=", "bytes=-", "bytes=--1", "bytes=1", "bytes=a-b", "bytes=1-b", "bytes=2-1", "bytes=+1-2",
        "bytes=1-2x", "bytes=1 -2", "bytes=0x1-2", "bytes=1.0-2", "bytes=1-2-3", "bytes=٣-٤", "bytes 1-2", "bytes=1–2",
        "=1-2", "items=1-2", " bytes=1-2", "bytes =1-2",
    ]

    @Test("Malformed ranges and other units are ignored", arguments: allMalformed)
    func malformed(header: String) {
        #expect(RequestedRange(header, length: 100) == .whole)
    }

    @Test("Several ranges are ignored", arguments: ["bytes=0-1,5-6", "bytes=0-1, -1", "bytes=0-,", "bytes=,0-1"])
    func several(header: String) {
        #expect(RequestedRange(header, length: 100) == .whole)
    }

    @Test(
        "A range of bytes that are not there can't be satisfied",
        arguments: [
            ("bytes=100-", 100), ("bytes=100-100", 100), ("bytes=99999999999999999999-", 100), ("bytes=-0", 100),
            ("bytes=1000-2000", 100), ("bytes=0-", 0), ("bytes=0-0", 0), ("bytes=-1", 0),
            ("bytes=9223372036854775807-9223372036854775807", 100),
        ]
    )
    func unsatisfiable(header: String, length: Int) {
        #expect(RequestedRange(header, length: length) == .unsatisfiable)
    }

    @Test("No header asks for all")
    func none() {
        #expect(RequestedRange(nil, length: 100) == .whole)
        #expect(RequestedRange(nil, length: 0) == .whole)
    }
}
