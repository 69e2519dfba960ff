/// Which objects go to the store whole, and how the others are cut.
///
/// Source of the limits: AWS, "Amazon S3 multipart upload limits".
package struct S3UploadPolicy: Sendable, Hashable {
    /// The most bytes that go in one request.
    package var maxSinglePutBytes = 32 * 1_024 * 1_024
    /// The bytes of a part.
    ///
    /// The last part may be smaller; parts are larger where there would be more than ``maxPartCount``.
    package var partBytes = 8 * 1_024 * 1_024
    /// How many parts of an object are on their way at once.
    package var partsInFlight = 4
    /// How many parts of all objects together are on their way.
    ///
    /// But each object may always have one.
    ///
    /// Some stores write parts one after another, and waiting parts get no sign of life.
    var partsInFlightTogether = 16

    /// The most parts that stores take.
    package static let maxPartCount = 10_000

    /// The usual policy.
    ///
    /// Change single values after making this.
    package init() {}

    /// How many parts of one object may be on their way while this many objects are.
    func partsInFlight(among objectCount: Int) -> Int {
        max(1, min(partsInFlight, partsInFlightTogether / max(1, objectCount)))
    }

    /// The ranges of an object's parts, in order.
    func parts(length: Int) -> [Range<Int>] {
        let least = (length + Self.maxPartCount - 1) / Self.maxPartCount
        return stride(from: 0, to: length, by: max(partBytes, least)).map { start in
            start..<min(start + max(partBytes, least), length)
        }
    }
}
