/// How much of each thing a body may hold; the limit itself still passes, one more is an error.
///
/// The parser holds at most one header block and one delimiter in memory whatever these say, so the
/// limits guard the receiver of the events, not the parser. The epilogue is dropped unseen and has
/// no limit here: the size of the whole body is for the caller to bound.
package struct MultipartLimits: Equatable, Sendable {
    /// The largest number of parts, those that are skipped included.
    package var partCountMax: Int
    /// The largest header block of one part in bytes, line ends and the closing empty line included.
    package var maxHeaderBytes: Int
    /// The largest text part in bytes.
    package var fieldBytesMax: Int
    /// The largest file in bytes, and the largest part that is skipped.
    package var fileBytesMax: Int
    /// The largest preamble in bytes, without the line end that belongs to the first boundary.
    package var preambleBytesMax: Int

    /// Makes limits that suit a form with a file in it.
    ///
    /// - Parameters:
    ///   - fileBytesMax: The largest file in bytes. It has no default, since it is the one limit that
    ///     a form's purpose decides.
    ///   - partCountMax: The largest number of parts.
    ///   - maxHeaderBytes: The largest header block of one part in bytes.
    ///   - fieldBytesMax: The largest text part in bytes.
    ///   - preambleBytesMax: The largest preamble in bytes.
    package init(
        fileBytesMax: Int,
        partCountMax: Int = 64,
        maxHeaderBytes: Int = 16 * 1024,
        fieldBytesMax: Int = 64 * 1024,
        preambleBytesMax: Int = 64 * 1024
    ) {
        self.fileBytesMax = fileBytesMax
        self.partCountMax = partCountMax
        self.maxHeaderBytes = maxHeaderBytes
        self.fieldBytesMax = fieldBytesMax
        self.preambleBytesMax = preambleBytesMax
    }
}
