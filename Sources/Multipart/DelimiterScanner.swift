/// Separates data from delimiters in chunks of any size.
///
/// It searches for the next CR, and looks byte by byte only at what follows one. It keeps only the start of a delimiter
/// at a chunk's end.
struct DelimiterScanner: Sendable {
    /// The parts of a chunk, in the order of the body.
    struct Finding {
        /// The end of earlier chunks, held until now, that is data after all.
        var held: [UInt8]
        /// The offsets of further data in this chunk.
        var data: Range<Int>
        /// What ended the data; `undecided` if the chunk ended first.
        var verdict: DelimiterMatcher.Verdict
        /// The offset of the first byte that is not dealt with.
        var end: Int
    }

    private var matcher: DelimiterMatcher
    private var held: [UInt8] = []

    /// Makes a scanner that stands at the start of a body.
    ///
    /// - Parameter boundary: The boundary that delimiters are made of.
    init(_ boundary: MultipartBoundary) {
        matcher = DelimiterMatcher(boundary)
    }

    /// Reads up to the next delimiter or the end of the chunk.
    ///
    /// - Parameters:
    ///   - chunk: The next bytes of the body.
    ///   - start: The offset to begin at.
    /// - Returns: What was found.
    mutating func scan(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Finding {
        var finding = Finding(held: [], data: start..<start, verdict: .undecided, end: chunk.count)
        var index = start
        // Where the candidate begins in this chunk: at `start` if it began in an earlier one.
        var candidate = start
        while true {
            if !matcher.isMatching {
                index = chunk.firstCarriageReturn(from: index)
                candidate = index
            }
            guard index < chunk.count else { break }
            let verdict = matcher.step(chunk[index])
            switch verdict {
            case .undecided:
                index += 1
            case .data:
                if !held.isEmpty { swap(&finding.held, &held) }
            case .partDelimiter, .closeDelimiter, .malformed:
                held = []
                finding.data = start..<candidate
                finding.verdict = verdict
                finding.end = index + 1
                return finding
            }
        }
        held += chunk[candidate...]
        finding.data = start..<candidate
        return finding
    }
}
