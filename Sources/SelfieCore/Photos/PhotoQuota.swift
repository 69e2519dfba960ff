import Postgres

/// What one user may have, unless an administrator has set something else for them.
package struct PhotoQuota: Sendable, Equatable {
    let maxCount: Int
    let maxBytes: Int

    /// - Parameters:
    ///   - maxCount: The most photos.
    ///   - maxBytes: The most bytes of all photos together.
    package init(maxCount: Int, maxBytes: Int) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
    }

    /// The condition on a row of `photo_libraries`, or none, that there is room for another photo.
    func hasRoom(forBytes bytes: Int) -> PostgresQuery {
        """
        coalesce(photo_count, 0) < coalesce(max_photo_count, \(maxCount))
            AND coalesce(byte_count, 0) + \(bytes) <= coalesce(max_byte_count, \(maxBytes))
        """
    }
}
