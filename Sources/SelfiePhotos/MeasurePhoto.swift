package import ObjectStore

/// Reads the size of a photo from its object, and stores it.
package struct MeasurePhoto: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore

    /// The outcome for a photo.
    package enum Outcome: Int, CaseIterable, Sendable {
        case measured
        /// It is no photo of a known format, or is damaged. It stays as it is.
        case noImage
        /// Its object is missing.
        case missing
        /// The store has its object but does not return it, for example from an archive.
        case refused
    }

    /// - Parameters:
    ///   - photos: Stores the sizes.
    ///   - objects: The store.
    package init(photos: PhotoStore, objects: any ObjectStore) {
        self.photos = photos
        self.objects = objects
    }

    /// Measures a photo.
    ///
    /// - Parameter randomID: The photo's id.
    /// - Returns: The outcome.
    /// - Throws: `ObjectStoreError`, `PostgresError`, or what reading a file throws.
    package func callAsFunction(_ randomID: String) async throws -> Outcome {
        let facts: PhotoFacts?
        do {
            facts = try await PhotoFacts(of: randomID, in: objects)
        } catch ObjectStoreError.refused {
            // Wrong keys and the like are refused again, and end the whole run.
            return try await objects.length(key: randomID) == nil ? .missing : .refused
        }
        guard let facts else { return .missing }
        guard facts.size != nil else { return .noImage }
        try await photos.keep(facts, of: randomID)
        return .measured
    }
}
