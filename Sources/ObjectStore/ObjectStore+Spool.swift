extension ObjectStore {
    /// Reads a whole object, so that a put of it can be tried again.
    ///
    /// For commands: it takes one block of memory, and as much disk as the object has bytes.
    ///
    /// - Parameter key: Names the object.
    /// - Returns: The object; nil when there is none.
    /// - Throws: `ObjectStoreError`, `PosixFileError`.
    package func spooled(key: String) async throws -> SpooledObject? {
        guard let object = try await open(key: key, range: nil) else { return nil }
        var spool = Spool()
        try await object.bytes.forEachChunk { try await spool.append($0) }
        return try await spool.finish()
    }
}
