import Multipart

extension Fixture {
    static let invalid: [Fixture] = [
        Fixture(name: "an empty body", body: [], error: .unexpectedEnd),
        Fixture(name: "a preamble and nothing else", body: lines("hello", ""), error: .unexpectedEnd),
        Fixture(
            name: "no final boundary",
            body: lines("--b", field, "", "1", "--b", field, "", "2", ""),
            parts: [.field("a", "1"), .open("a", "2")],
            error: .unexpectedEnd
        ),
        Fixture(
            name: "an ordinary boundary in place of the final one",
            body: lines("--b", field, "", "1", "--b", ""),
            parts: [.field("a", "1")],
            error: .unexpectedEnd
        ),
        Fixture(
            name: "LF after the first boundary",
            body: Array("--b\n\(field)\n\n1\n--b--\n".utf8),
            error: .malformedDelimiter
        ),
        Fixture(
            name: "LF after a later boundary",
            body: lines("--b", field, "", "1", "--b \n\(field)\n\n2", "--b--"),
            parts: [.open("a", "1")],
            error: .malformedDelimiter
        ),
        Fixture(
            name: "LF before the boundaries",
            body: Array("--b\r\n\(field)\r\n\r\n1\n--b\r\n\(field)\r\n\r\n2\n--b--\n".utf8),
            parts: [.open("a", "1\n--b\r\n\(field)\r\n\r\n2\n--b--\n")],
            error: .unexpectedEnd
        ),
        Fixture(name: "LF in a header", body: lines("--b", field + "\n", "1", "--b--"), error: .malformedHeader),
        Fixture(name: "CR in a header", body: lines("--b", field + "\rXX: y", "", "--b--"), error: .malformedHeader),
        Fixture(name: "NUL in a header", body: lines("--b", field + "\0", "", "1", "--b--"), error: .malformedHeader),
        Fixture(name: "a folded header", body: lines("--b", field, " x=y", "", "1", "--b--"), error: .malformedHeader),
        Fixture(name: "a boundary for a header", body: lines("--b", "--b--", ""), error: .malformedHeader),
        Fixture(
            name: "too large a field",
            body: lines("--b", field, "", "12", "--b", "--b--"),
            limits: MultipartLimits(maxFileBytes: 100, maxFieldBytes: 1),
            parts: [.open("a", "1")],
            error: .fieldTooLarge
        ),
        Fixture(
            name: "too large a field, by a near-boundary",
            body: lines("--b", field, "", "12", "--bX", "--b--"),
            limits: MultipartLimits(maxFileBytes: 100, maxFieldBytes: 5),
            parts: [.open("a", "12\r\n-")],
            error: .fieldTooLarge
        ),
        Fixture(
            name: "too many parts",
            body: lines("--b", field, "", "1", "--b", field, "", "2", "--b--"),
            limits: MultipartLimits(maxFileBytes: 100, maxPartCount: 1),
            parts: [.field("a", "1")],
            error: .tooManyParts
        ),
    ]

    private static let field = "Content-Disposition: form-data; name=a"
}

extension Outcome.Part {
    /// A text part that was cut short.
    fileprivate static func open(_ name: String, _ text: String) -> Self {
        var part = field(name, text)
        part.isComplete = false
        return part
    }
}
