extension MotoServer {
    /// The server that tests share; each has buckets of its own there.
    package static var shared: MotoServer {
        get async throws { try await sharing.value }
    }

    private static let sharing = Task { try await start() }
}
