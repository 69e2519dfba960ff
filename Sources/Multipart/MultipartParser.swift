/// A push parser for multipart/form-data: chunks of a body go in as they arrive, events come out.
///
/// RFC 7578 and RFC 2046, section 5.1, with CRLF line ends only. It is a value without any I/O. Between chunks it keeps
/// the header line being read, and the start of a delimiter. So memory is bounded whatever the size of the body.
/// Contents are reported as offsets into the caller's own chunk, and not copied. However a body is cut into chunks, the
/// parts, their bytes and the error are the same.
///
/// Contents are bytes as sent: no Content-Transfer-Encoding is undone (RFC 7578, section 4.7,
/// deprecates it) and text is not checked to be UTF-8.
package struct MultipartParser: Sendable {
    private enum State {
        case contents(Contents)
        case header
        case epilogue
        case failed(MultipartError)
    }

    private let limits: MultipartLimits
    private var scanner: DelimiterScanner
    private var state: State
    // A property beside the state, so that it grows in place.
    private var header: PartHeader
    private var partCount = 0

    /// Makes a parser that stands at the start of a body.
    ///
    /// - Parameters:
    ///   - boundary: The boundary from the request's Content-Type.
    ///   - limits: How much the body may hold.
    package init(boundary: MultipartBoundary, limits: MultipartLimits) {
        self.limits = limits
        scanner = DelimiterScanner(boundary)
        state = .contents(.preamble(limits))
        header = PartHeader(maxBytes: limits.maxHeaderBytes)
    }

    /// Reads the next chunk of the body.
    ///
    /// Bytes after the final boundary are dropped.
    ///
    /// - Parameters:
    ///   - chunk: The next bytes, any number of them: `buffer.readableBytesSpan` of a `ByteBuffer`,
    ///     `array.span.bytes` of an array.
    ///   - events: Where what was found is appended. After an error it has everything up to the error;
    ///     of contents beyond a limit, exactly as many bytes as the limit.
    /// - Throws: Any case of `MultipartError` that is about a body. The parser stays failed, and every
    ///   later call throws the same error.
    package mutating func push(_ chunk: RawSpan, into events: inout [MultipartEvent]) throws(MultipartError) {
        do throws(MultipartError) {
            try chunk.withUnsafeBytes { bytes throws(MultipartError) in
                try read(bytes, into: &events)
            }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Says that the body has ended.
    ///
    /// - Throws: `MultipartError.unexpectedEnd` if the final boundary has not come, or the error that
    ///   the parser failed with before.
    package mutating func finish() throws(MultipartError) {
        switch state {
        case .epilogue:
            return
        case .failed(let error):
            throw error
        case .contents, .header:
            state = .failed(.unexpectedEnd)
            throw .unexpectedEnd
        }
    }

    private mutating func read(
        _ chunk: UnsafeRawBufferPointer,
        into events: inout [MultipartEvent]
    ) throws(MultipartError) {
        if case .failed(let error) = state { throw error }
        var offset = 0
        while offset < chunk.count {
            switch state {
            case .contents(let contents):
                offset = try read(contents, from: offset, of: chunk, into: &events)
            case .header:
                offset = try readHeader(from: offset, of: chunk, into: &events)
            case .epilogue:
                return
            case .failed(let error):
                throw error
            }
        }
    }

    private mutating func readHeader(
        from start: Int,
        of chunk: UnsafeRawBufferPointer,
        into events: inout [MultipartEvent]
    ) throws(MultipartError) -> Int {
        for offset in start..<chunk.count where try header.append(chunk[offset]) {
            let part = try MultipartPart(header)
            if let part { events.append(.partBegin(part)) }
            state = .contents(.part(part, limits))
            return offset + 1
        }
        return chunk.count
    }

    private mutating func read(
        _ contents: Contents,
        from start: Int,
        of chunk: UnsafeRawBufferPointer,
        into events: inout [MultipartEvent]
    ) throws(MultipartError) -> Int {
        var contents = contents
        let finding = scanner.scan(chunk, from: start)
        try contents.append(finding, to: &events)
        switch finding.verdict {
        case .partDelimiter:
            contents.end(&events)
            guard partCount < limits.maxPartCount else { throw .tooManyParts }
            partCount += 1
            header = PartHeader(maxBytes: limits.maxHeaderBytes)
            state = .header
        case .closeDelimiter:
            contents.end(&events)
            state = .epilogue
        case .malformed:
            throw .malformedDelimiter
        case .undecided, .data:
            state = .contents(contents)
        }
        return finding.end
    }
}
