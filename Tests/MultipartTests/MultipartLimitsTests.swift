import Multipart
import Testing

/// A limit, and a body that needs a given amount of what it limits.
struct LimitCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var error: MultipartError
    var smallest = 0
    var limits: @Sendable (_ limit: Int) -> MultipartLimits
    var body: @Sendable (_ amount: Int) -> [UInt8]
    /// How many bytes of contents come out before the error.
    var reported: @Sendable (_ limit: Int) -> Int = { _ in 0 }
}

@Suite("Limits", .timeLimit(.minutes(1)))
struct MultipartLimitsTests {
    private static let field = "Content-Disposition: form-data; name=a"
    private static let file = "Content-Disposition: form-data; name=a; filename=f"
    private static let notChosen = "Content-Disposition: form-data; name=a; filename=\"\""

    static let cases: [LimitCase] = [
        LimitCase(testDescription: "parts", error: .tooManyParts) {
            MultipartLimits(maxFileBytes: 0, maxPartCount: $0)
        } body: {
            Array(repeating: lines("--b", field, "", "", ""), count: $0).flatMap(\.self) + lines("--b--")
        },
        LimitCase(testDescription: "skipped parts", error: .tooManyParts) {
            MultipartLimits(maxFileBytes: 0, maxPartCount: $0)
        } body: {
            Array(repeating: lines("--b", "", ""), count: $0).flatMap(\.self) + lines("--b--")
        },
        LimitCase(testDescription: "a header of one line", error: .headerTooLarge, smallest: 7) {
            MultipartLimits(maxFileBytes: 0, maxHeaderBytes: $0)
        } body: {
            lines("--b", "X:" + String(repeating: "y", count: $0 - 6), "", "", "--b--")
        },
        LimitCase(testDescription: "a header of many lines", error: .headerTooLarge, smallest: 7) {
            MultipartLimits(maxFileBytes: 0, maxHeaderBytes: $0)
        } body: {
            let first = "X:" + String(repeating: "y", count: ($0 - 6) % 5) + "\r\n"
            let header = first + String(repeating: "Y:z\r\n", count: ($0 - 6) / 5) + "\r\n"
            return lines("--b", header, "--b--")
        },
        LimitCase(testDescription: "a text part", error: .fieldTooLarge) {
            MultipartLimits(maxFileBytes: 0, maxFieldBytes: $0)
        } body: {
            lines("--b", field, "", String(repeating: "y", count: $0), "--b--")
        } reported: {
            $0
        },
        LimitCase(testDescription: "a text part of near-boundaries", error: .fieldTooLarge) {
            MultipartLimits(maxFileBytes: 0, maxFieldBytes: $0)
        } body: {
            let pattern = lines("", "--x")
            return lines("--b", field, "", "") + (0..<$0).map { pattern[$0 % pattern.count] } + lines("", "--b--")
        } reported: {
            $0
        },
        LimitCase(testDescription: "a file", error: .fileTooLarge) {
            MultipartLimits(maxFileBytes: $0, maxFieldBytes: 0)
        } body: {
            lines("--b", file, "", String(repeating: "y", count: $0), "--b--")
        } reported: {
            $0
        },
        LimitCase(testDescription: "a file that was not chosen", error: .fileTooLarge) {
            MultipartLimits(maxFileBytes: $0)
        } body: {
            lines("--b", notChosen, "", String(repeating: "y", count: $0), "--b--")
        },
        LimitCase(testDescription: "a part without a header", error: .fileTooLarge) {
            MultipartLimits(maxFileBytes: $0)
        } body: {
            lines("--b", "", String(repeating: "y", count: $0), "--b--")
        },
        LimitCase(testDescription: "the preamble", error: .preambleTooLarge) {
            MultipartLimits(maxFileBytes: 0, maxPreambleBytes: $0)
        } body: {
            lines(String(repeating: "y", count: $0), "--b--")
        },
    ]

    @Test("let the limit pass and refuse one more, in one chunk or byte by byte", arguments: cases)
    func atTheLimitAndOnePast(_ limitCase: LimitCase) throws {
        for limit in limitCase.smallest...(limitCase.smallest + 20) {
            let within = Fixture(name: "", body: limitCase.body(limit), limits: limitCase.limits(limit))
            let past = Fixture(name: "", body: limitCase.body(limit + 1), limits: limitCase.limits(limit))
            for isCut in [false, true] {
                #expect(try within.outcome(cuts: isCut ? within.bytes.indices : 0..<0).error == nil)
                let outcome = try past.outcome(cuts: isCut ? past.bytes.indices : 0..<0)
                #expect(outcome.error == limitCase.error)
                #expect(outcome.byteCount == limitCase.reported(limit))
            }
        }
    }

    @Test("have these values by default")
    func defaults() {
        let limits = MultipartLimits(maxFileBytes: 1)
        #expect(limits.maxPartCount == 64)
        #expect(limits.maxHeaderBytes == 16_384)
        #expect(limits.maxFieldBytes == 65_536)
        #expect(limits.maxPreambleBytes == 65_536)
    }

    @Test(
        "refuse by default hundreds of parts, a header over 16 KiB, a text part of megabytes",
        arguments: [
            (300, 10, 10, .tooManyParts),
            (1, 16 * 1024, 10, .headerTooLarge),
            (1, 10, 2 << 20, .fieldTooLarge),
        ] as [(Int, Int, Int, MultipartError)]
    )
    func excess(_ partCount: Int, _ headerBytes: Int, _ fieldBytes: Int, _ error: MultipartError) throws {
        let header = "X: " + String(repeating: "y", count: headerBytes)
        let part = lines("--b", Self.field, header, "", String(repeating: "z", count: fieldBytes), "")
        let body = Array(repeating: part, count: partCount).flatMap(\.self) + lines("--b--")
        #expect(try outcome(of: body).error == error)
    }

    @Test("refuse everything below zero instead of crashing")
    func negative() throws {
        let limits = MultipartLimits(
            maxFileBytes: -1,
            maxPartCount: -1,
            maxHeaderBytes: -1,
            maxFieldBytes: -1,
            maxPreambleBytes: -1
        )
        #expect(try outcome(of: lines("x", "--b--"), limits: limits).error == .preambleTooLarge)
        #expect(try outcome(of: lines("--b", "", ""), limits: limits).error == .tooManyParts)
        #expect(try outcome(of: lines("--b--"), limits: limits).error == nil)
    }

    @Test("bound the padding after a boundary, beyond which it is data", arguments: [" ", "\t"])
    func padding(_ blank: String) throws {
        for count in [0, 1, 63, 64] {
            let body = lines("--b" + String(repeating: blank, count: count), Self.field, "", "x", "--b--")
            #expect(try outcome(of: body).parts == [.field("a", "x")])
        }
        let line = "--b" + String(repeating: blank, count: 65)
        let inside = Fixture(name: "", body: lines("--b", Self.field, "", "x", line, "--b--"))
        #expect(try inside.outcome().parts == [.field("a", "x\r\n" + line)])
        #expect(try inside.outcome(cuts: inside.bytes.indices).parts == [.field("a", "x\r\n" + line)])
    }

    @Test("leave an epilogue of any size alone")
    func epilogue() throws {
        let limits = MultipartLimits(
            maxFileBytes: 0,
            maxPartCount: 0,
            maxHeaderBytes: 0,
            maxFieldBytes: 0,
            maxPreambleBytes: 0
        )
        let epilogue = [UInt8](repeating: 13, count: 1 << 20)
        #expect(try outcome(of: lines("--b--") + epilogue, limits: limits).error == nil)
    }
}
