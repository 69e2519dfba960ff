/// Which objects go to the store whole, and how the others are cut.
///
/// Source of the limits: AWS, "Amazon S3 multipart upload limits".
package struct S3UploadPolicy: Sendable, Hashable {
    /// The most bytes that go in one request.
    package var singlePutBytesMax = 32 * 1_024 * 1_024
    /// The bytes of a part, but for the last and for objects that would have more than ``partCountMax``.
    package var partBytes = 8 * 1_024 * 1_024
    /// How many parts of an object are on their way at once.
    package var partsInFlight = 4

    /// The most parts that stores take.
    package static let partCountMax = 10_000

    /// The policy in use; change single values after.
    package init() {}

    /// The ranges of an object's parts, in order.
    func parts(length: Int) -> [Range<Int>] {
        let least = (length + Self.partCountMax - 1) / Self.partCountMax
        return stride(from: 0, to: length, by: max(partBytes, least)).map { start in
            start..<min(start + max(partBytes, least), length)
        }
    }
}
