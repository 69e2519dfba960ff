/// A part of an object, for the `Range` header (RFC 9110, section 14.1.2).
package enum S3ByteRange: Sendable, Hashable {
    /// From the first to the last position, both included, counted from 0.
    case bytes(ClosedRange<Int>)
    /// From the position to the end.
    case from(Int)
    /// This many bytes at the end.
    case last(Int)

    var headerValue: String {
        get throws(S3InvalidArgument) {
            switch self {
            case .bytes(let range) where range.lowerBound >= 0: "bytes=\(range.lowerBound)-\(range.upperBound)"
            case .from(let position) where position >= 0: "bytes=\(position)-"
            case .last(let count) where count > 0: "bytes=-\(count)"
            default: throw .range
            }
        }
    }
}
