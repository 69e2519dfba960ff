import RecordSchema
import SelfieRecords
import Synchronization

/// Caches the API's document for one version of the schema.
///
/// Anybody may read the document. So the version is read from the database now and then, and not for each request.
final class DocumentCache: Sendable {
    private struct Entry {
        /// nil for a document that was made while the schema could not be read.
        let version: Int?
        let file: StaticFile
        var readAt: ContinuousClock.Instant
    }

    private let cached = Mutex<Entry?>(nil)
    private let make: @Sendable (Schema) -> StaticFile

    /// How long the version is not read again.
    private static let pause: Duration = .seconds(2)

    /// - Parameter make: Makes the document. Other requests for it wait meanwhile.
    init(_ make: @escaping @Sendable (Schema) -> StaticFile) {
        self.make = make
    }

    /// The document of the present schema.
    ///
    /// When the schema can't be read, it is the last document, or one without collections.
    func file(of schema: () async throws -> AppliedSchema) async -> StaticFile {
        let now = ContinuousClock.now
        let isFresh = cached.withLock { cached in
            guard let readAt = cached?.readAt, now - readAt < Self.pause else {
                // Other requests do not read it meanwhile.
                cached?.readAt = now
                return false
            }
            return true
        }
        let present = isFresh ? nil : try? await schema()
        return cached.withLock { cached in
            if let cached, present.map({ $0.version == cached.version }) ?? true { return cached.file }
            let file = make(present?.schema ?? .empty)
            // A document that was made while the database was down is soon made again.
            cached = Entry(version: present?.version, file: file, readAt: present == nil ? now - Self.pause : now)
            return file
        }
    }
}
