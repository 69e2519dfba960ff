/// The limits of a body.
///
/// A count equal to its limit passes; one more is an error.
///
/// The parser holds one header block and one delimiter in memory at most. So these limits guard the receiver of the
/// events. The epilogue is dropped without a limit here: the caller limits the whole body.
package struct MultipartLimits: Equatable, Sendable {
    /// The largest number of parts, those that are skipped included.
    package var maxPartCount: Int
    /// The largest header block of one part in bytes, line ends and the closing empty line included.
    package var maxHeaderBytes: Int
    /// The largest text part in bytes.
    package var maxFieldBytes: Int
    /// The largest file in bytes, and the largest part that is skipped.
    package var maxFileBytes: Int
    /// The largest preamble in bytes, without the line end that belongs to the first boundary.
    package var maxPreambleBytes: Int

    /// Makes limits that suit a form with a file in it.
    ///
    /// - Parameters:
    ///   - maxFileBytes: The largest file in bytes. It has no default, since it is the one limit that
    ///     a form's purpose decides.
    ///   - maxPartCount: The largest number of parts.
    ///   - maxHeaderBytes: The largest header block of one part in bytes.
    ///   - maxFieldBytes: The largest text part in bytes.
    ///   - maxPreambleBytes: The largest preamble in bytes.
    package init(
        maxFileBytes: Int,
        maxPartCount: Int = 64,
        maxHeaderBytes: Int = 16 * 1024,
        maxFieldBytes: Int = 64 * 1024,
        maxPreambleBytes: Int = 64 * 1024
    ) {
        self.maxFileBytes = maxFileBytes
        self.maxPartCount = maxPartCount
        self.maxHeaderBytes = maxHeaderBytes
        self.maxFieldBytes = maxFieldBytes
        self.maxPreambleBytes = maxPreambleBytes
    }
}
