/// Why a body is not acceptable multipart/form-data.
///
/// Every case is the sender's doing. The parser does not know where the bytes come from. A source that fails half-way
/// keeps its own error.
package enum MultipartError: Error, Equatable, Sendable {
    /// The Content-Type is something other than `multipart/form-data`.
    case notMultipart
    /// The Content-Type has no `boundary` parameter.
    case missingBoundary
    /// The boundary is empty, longer than 70 bytes (RFC 2046, section 5.1.1) or holds control characters.
    case invalidBoundary
    /// The Content-Type names two boundaries that differ.
    case conflictingBoundaries
    /// A header line, or a parameter in it, breaks the grammar. Examples: a bare CR or LF, a folded line, a line
    /// without a colon, an open quote, two values for one parameter.
    case malformedHeader
    /// A field's name has more than 255 bytes, or more than 30 combining marks in a row.
    case unfitName
    /// A boundary is followed by LF without CR.
    case malformedDelimiter
    /// The body has more parts than `MultipartLimits.maxPartCount`.
    case tooManyParts
    /// A part's header block is longer than `MultipartLimits.maxHeaderBytes`.
    case headerTooLarge
    /// A text part is longer than `MultipartLimits.maxFieldBytes`.
    case fieldTooLarge
    /// A file, or a part that is skipped, is longer than `MultipartLimits.maxFileBytes`.
    case fileTooLarge
    /// What comes before the first boundary is longer than `MultipartLimits.maxPreambleBytes`.
    case preambleTooLarge
    /// The body ended before its final boundary.
    case unexpectedEnd
}
