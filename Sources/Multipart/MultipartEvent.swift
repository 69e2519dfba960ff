/// The parser's events, in the order of the body.
///
/// A part is one `partBegin`, any number of `partBytes` and `heldBytes`, and one `partEnd`; parts
/// never overlap. An empty part has no bytes between the two.
package enum MultipartEvent: Equatable, Sendable {
    /// A part starts; its header is complete.
    case partBegin(MultipartPart)
    /// Contents of the part: these offsets, never none, of the chunk that was just pushed.
    ///
    /// Offsets and not bytes, so that a file is never copied here. The caller slices its own buffer, such as
    /// `getSlice(at: readerIndex + range.lowerBound, length: range.count)`.
    case partBytes(Range<Int>)
    /// Contents of the part that ended an earlier chunk, held back until now.
    ///
    /// They looked like the start of a boundary and were not. Never empty, and no longer than a
    /// boundary with its padding: below 140 bytes.
    case heldBytes([UInt8])
    /// The part is complete.
    case partEnd
}
