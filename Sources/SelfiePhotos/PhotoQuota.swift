import Postgres

/// The quota of a user, unless an administrator has set another one.
package struct PhotoQuota: Sendable, Equatable {
    package let maxCount: Int
    package let maxBytes: Int

    /// The default: 10,000 photos and 10 GiB.
    package static let usual = PhotoQuota(maxCount: 10_000, maxBytes: 10 << 30)

    /// What can be set as `maxCount` for all users.
    package static let maxCountRange = 1...1_000_000

    /// What can be set as `maxBytes` for all users: up to 1 PiB.
    package static let maxBytesRange = 1...(1 << 50)

    /// - Parameters:
    ///   - maxCount: The most photos.
    ///   - maxBytes: The most bytes of all photos together.
    package init(maxCount: Int, maxBytes: Int) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
    }

    /// The condition on a row of `photo_libraries`, or none, that there is room for another photo.
    ///
    /// - Parameter bytes: The number of the photo's bytes, an expression.
    /// - Returns: The condition.
    func hasRoom(forBytes bytes: PostgresQuery) -> PostgresQuery {
        """
        coalesce(library.photo_count, 0) < coalesce(library.max_photo_count, \(maxCount))
            AND coalesce(library.byte_count, 0) + (\(part: bytes)) <= coalesce(library.max_byte_count, \(maxBytes))
        """
    }
}
