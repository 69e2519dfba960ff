import RecordSchema
import SelfieCore
import Synchronization

/// The API's document, made again when the schema has changed.
///
/// The database is asked for that now and then, and not for each request: anybody may read the document.
final class KeptDocument: Sendable {
    private struct Kept {
        var version: Int
        var file: StaticFile
        var lookedAt: ContinuousClock.Instant
    }

    private let kept = Mutex<Kept?>(nil)
    private let make: @Sendable (Schema) -> StaticFile

    /// For how long nobody looks whether the schema has changed.
    private static let pause: Duration = .seconds(2)

    /// - Parameter make: Makes the document. Others who ask meanwhile wait.
    init(_ make: @escaping @Sendable (Schema) -> StaticFile) {
        self.make = make
    }

    /// The document of the present schema.
    ///
    /// When that can't be read, it is the last one, or one without collections.
    ///
    /// - Parameter schema: Reads the schema.
    /// - Returns: The document.
    func file(of schema: () async throws -> AppliedSchema) async -> StaticFile {
        let now = ContinuousClock.now
        let isFresh = kept.withLock { kept in
            guard let lookedAt = kept?.lookedAt, now - lookedAt < Self.pause else {
                // Who asks meanwhile does not look, too.
                kept?.lookedAt = now
                return false
            }
            return true
        }
        let present = isFresh ? nil : try? await schema()
        return kept.withLock { kept in
            if let kept, present.map({ $0.version == kept.version }) ?? true { return kept.file }
            let file = make(present?.schema ?? .empty)
            // A document that was made while the database was down is soon made again.
            kept = Kept(version: present?.version ?? -1, file: file, lookedAt: present == nil ? now - Self.pause : now)
            return file
        }
    }
}
