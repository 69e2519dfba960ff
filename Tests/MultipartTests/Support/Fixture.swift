import Multipart
import Testing

/// A body to parse, and what it must come to.
struct Fixture: CustomTestStringConvertible, Sendable {
    var name: String
    var boundary = "b"
    /// The body up to and with its final boundary, if it has one.
    var body: [UInt8]
    /// What follows the final boundary.
    var epilogue: [UInt8] = []
    var limits = MultipartLimits(maxFileBytes: 1 << 20)
    var parts: [Outcome.Part] = []
    var error: MultipartError?

    var testDescription: String { name }
    var bytes: [UInt8] { body + epilogue }

    /// The outcome of the body, or of another one, when it is cut at some offsets.
    func outcome(of other: [UInt8]? = nil, cuts: some Sequence<Int> = []) throws -> Outcome {
        let boundary = try MultipartBoundary(contentType: "multipart/form-data; boundary=\"\(boundary)\"")
        return Outcome(of: other ?? bytes, boundary: boundary, limits: limits, cuts: cuts)
    }
}

/// The bytes of some lines, with CRLF between them and none at the end.
func lines(_ lines: String...) -> [UInt8] {
    Array(lines.joined(separator: "\r\n").utf8)
}

/// The outcome of a body with the boundary `b`.
func outcome(of body: [UInt8], limits: MultipartLimits = MultipartLimits(maxFileBytes: 1 << 20)) throws -> Outcome {
    try Fixture(name: "", body: body, limits: limits).outcome()
}

/// The outcome of one part with the given header lines and the contents `x`.
func outcome(ofPartWith headerLines: String...) throws -> Outcome {
    try outcome(of: lines("--b", headerLines.joined(separator: "\r\n"), "", "x", "--b--"))
}
