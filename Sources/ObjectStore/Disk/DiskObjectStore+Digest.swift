package import S3

extension DiskObjectStore {
    /// Reads a whole object to compute its digests.
    ///
    /// - Parameter key: Names the object.
    /// - Returns: nil when there is no such object.
    /// - Throws: `ObjectStoreError`.
    package func digest(of key: String) async throws(ObjectStoreError) -> ObjectDigests? {
        guard let object = try await open(key: key, range: nil) else { return nil }
        var digests = ObjectDigests()
        do {
            try await object.bytes.forEachChunk { digests.update($0) }
        } catch {
            throw error as? ObjectStoreError ?? .unavailable(error)
        }
        return digests
    }
}
