/// Decides byte by byte whether the bytes after a line end are a delimiter.
///
/// A delimiter (RFC 2046, section 5.1.1) is CRLF, two dashes and the boundary. Padding and CRLF follow before another
/// part, two more dashes after the last. A boundary holds no CR. So only the byte at which a candidate fails can begin
/// another one, and no byte is read twice.
struct DelimiterMatcher: Sendable {
    /// How many spaces and tabs may follow a boundary.
    ///
    /// With more, it is data.
    ///
    /// RFC 2046 lets transports add any number. A limit is needed because they are all held until the next byte
    /// decides. No known client adds any.
    static let maxPaddingBytes = 64

    /// The decision after a byte.
    enum Verdict {
        /// More bytes are needed; this one belongs to the candidate.
        case undecided
        /// The candidate is data; this byte does not belong to it and may begin another.
        case data
        /// This byte ends a delimiter after which a part begins.
        case partDelimiter
        /// This byte ends the delimiter after which only an epilogue comes.
        case closeDelimiter
        /// The boundary is followed by LF alone: delimiters with such line ends would pass for data.
        case malformed
    }

    private enum Phase: Equatable {
        case matched(Int)
        case padding(Int)
        case carriageReturn
        case dash
    }

    private let delimiter: [UInt8]
    private var phase: Phase

    /// Makes a matcher that stands at the beginning of a line.
    ///
    /// - Parameter boundary: The boundary that delimiters are made of.
    init(_ boundary: MultipartBoundary) {
        delimiter = Array("\r\n--".utf8) + boundary.bytes
        phase = Self.lineStart
    }

    /// Where the body and the contents of each part begin.
    ///
    /// The CRLF of a delimiter is already there. At the very start it is not needed. An empty part may share it with
    /// the empty line that ends its header.
    private static let lineStart = Phase.matched(2)

    /// Whether a candidate is being read; if not, nothing but CR begins one.
    var isMatching: Bool {
        phase != .matched(0)
    }

    /// Takes one more byte.
    ///
    /// After a delimiter the matcher stands at the beginning of a line again, for the contents of the
    /// next part.
    ///
    /// - Parameter byte: The next byte of the contents.
    /// - Returns: The decision.
    mutating func step(_ byte: UInt8) -> Verdict {
        switch (phase, byte) {
        case (.matched(let count), _) where byte == delimiter[count]:
            phase = count + 1 < delimiter.count ? .matched(count + 1) : .padding(0)
        case (.padding(0), ASCII.dash):
            phase = .dash
        case (.padding(let count), ASCII.space), (.padding(let count), ASCII.tab):
            guard count < Self.maxPaddingBytes else { return end(.data) }
            phase = .padding(count + 1)
        case (.padding, ASCII.carriageReturn):
            phase = .carriageReturn
        case (.padding, ASCII.lineFeed):
            return end(.malformed)
        case (.carriageReturn, ASCII.lineFeed):
            return end(.partDelimiter)
        case (.dash, ASCII.dash):
            return end(.closeDelimiter)
        default:
            return end(.data)
        }
        return .undecided
    }

    private mutating func end(_ verdict: Verdict) -> Verdict {
        phase = verdict == .data ? .matched(0) : Self.lineStart
        return verdict
    }
}
