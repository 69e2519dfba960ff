package import Logging
import ObjectStore

/// Reads from a photo's object what its row lacks: type, length and size.
package struct DescribePhoto: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore

    /// Completes the facts of a photo that railsauth stored, and stores them, so that this is done once.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - isKept: Whether the facts are stored.
    ///   - logger: The request's.
    /// - Returns: The photo with all facts; nil when its object is missing.
    /// - Throws: `ObjectStoreError`, or what reading a file throws.
    package func callAsFunction(_ photo: ServedPhoto, isKept: Bool, logger: Logger) async throws -> ServedPhoto? {
        guard let facts = try await PhotoFacts(of: photo.objectKey, in: objects) else { return nil }
        if isKept {
            do {
                try await photos.keep(facts, of: photo.randomID)
            } catch {
                // The next request tries again.
                logger.warning("a photo's type could not be noted", metadata: ["error": "\(error)"])
            }
        }
        return photo.with(facts)
    }
}
