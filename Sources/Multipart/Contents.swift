/// The contents between two delimiters, or before the first: their limit, and how they are reported.
struct Contents: Sendable {
    private var bytesLeft: Int
    private let overflow: MultipartError
    private let isReported: Bool

    private init(maxBytes: Int, overflow: MultipartError, isReported: Bool) {
        bytesLeft = max(0, maxBytes)
        self.overflow = overflow
        self.isReported = isReported
    }

    /// The contents before the first boundary.
    ///
    /// They are limited and dropped.
    ///
    /// - Parameter limits: The limits of the body.
    /// - Returns: Contents without bytes so far.
    static func preamble(_ limits: MultipartLimits) -> Contents {
        Contents(maxBytes: limits.maxPreambleBytes, overflow: .preambleTooLarge, isReported: false)
    }

    /// The contents of a part.
    ///
    /// - Parameters:
    ///   - part: The part's description. Nil for a skipped part: its contents are limited like a file's, and dropped.
    ///   - limits: The limits of the body.
    /// - Returns: Contents without bytes so far.
    static func part(_ part: MultipartPart?, _ limits: MultipartLimits) -> Contents {
        switch part?.kind {
        case .field: Contents(maxBytes: limits.maxFieldBytes, overflow: .fieldTooLarge, isReported: true)
        case .file: Contents(maxBytes: limits.maxFileBytes, overflow: .fileTooLarge, isReported: true)
        case nil: Contents(maxBytes: limits.maxFileBytes, overflow: .fileTooLarge, isReported: false)
        }
    }

    /// Counts and reports data.
    ///
    /// If there is too much data, the part of it within the limit is reported before the error. So the events do not
    /// depend on how the body is cut into chunks.
    ///
    /// - Parameters:
    ///   - finding: The data.
    ///   - events: Where it is reported.
    /// - Throws: The error of the limit that was passed.
    mutating func append(
        _ finding: DelimiterScanner.Finding,
        to events: inout [MultipartEvent]
    ) throws(MultipartError) {
        let held = finding.held.prefix(bytesLeft)
        bytesLeft -= held.count
        let data = finding.data.prefix(bytesLeft)
        bytesLeft -= data.count
        if isReported {
            if !held.isEmpty { events.append(.heldBytes(Array(held))) }
            if !data.isEmpty { events.append(.partBytes(data)) }
        }
        guard held.count == finding.held.count, data.count == finding.data.count else { throw overflow }
    }

    /// Reports that the contents are complete.
    ///
    /// - Parameter events: Where it is reported.
    func end(_ events: inout [MultipartEvent]) {
        if isReported { events.append(.partEnd) }
    }
}
