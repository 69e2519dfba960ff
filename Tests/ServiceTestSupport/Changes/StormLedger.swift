package import Postgres
import Synchronization

/// What the writers of a storm were told that is stored.
///
/// Each write of a record, and each deletion, adds one to its version. A record that is made again goes on from there. So
/// two answers with one version mean that one of the two writes is lost.
package final class StormLedger: Sendable {
    /// What a database has.
    package struct Stored: Sendable {
        /// The newest version of each record that ever was, by collection and id, such as `news/n1`.
        package let versions: [String: Int]
        /// The records that are there, with `photos/` before the ids of photos.
        package let present: Set<String>

        package init(versions: [String: Int], present: Set<String>) {
            (self.versions, self.present) = (versions, present)
        }
    }

    private struct State {
        /// The versions that writers were answered with, by collection and id.
        var versions: [String: Set<Int>] = [:]
        /// The version that each record has at least.
        var least: [String: Int] = [:]
        var photos: Set<String> = []
        /// Versions that two writers were answered with.
        var repeated: [String] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// The version that a record has at least; 0 for one that nobody was told of.
    package func least(_ key: String) -> Int { state.withLock { $0.least[key] ?? 0 } }

    /// Notes that a write was answered with a version.
    package func wrote(_ key: String, version: Int) {
        state.withLock { state in
            if !state.versions[key, default: []].insert(version).inserted { state.repeated.append("\(key) \(version)") }
            state.least[key] = max(state.least[key] ?? 0, version)
        }
    }

    /// Notes that a record was deleted, which had at least a version when the call was sent.
    package func deleted(_ key: String, after version: Int) {
        state.withLock { $0.least[key] = max($0.least[key] ?? 0, version + 1) }
    }

    /// Notes that a photo was uploaded.
    package func uploaded(_ id: String) { state.withLock { _ = $0.photos.insert("photos/\(id)") } }

    /// Notes that a photo is to be deleted: from now on it may be there or not.
    package func deletes(photo id: String) { state.withLock { _ = $0.photos.remove("photos/\(id)") } }

    /// What is not as the writers were told, a few words each.
    package func contradictions(_ stored: Stored) -> [String] {
        let state = state.withLock { $0 }
        let lost = state.least.filter { (stored.versions[$0.key] ?? 0) < $0.value }
            .map { "\($0.key) has lost version \($0.value)" }
        // Nothing has changed these since. So nobody has deleted them.
        let gone = state.versions.keys.filter { key in
            guard let newest = stored.versions[key], !stored.present.contains(key) else { return false }
            return state.versions[key]?.contains(newest) == true
        }.map { "\($0) is gone" }
        let photos = state.photos.subtracting(stored.present).map { "\($0) is lost" }
        return state.repeated.map { "\($0) came twice" } + (lost + gone + photos).sorted()
    }
}

extension StormLedger.Stored {
    /// Reads all of it.
    ///
    /// - Throws: `PostgresError`.
    package init(_ postgres: PostgresClient) async throws {
        let rows = try await postgres.read(
            """
            SELECT collections.name || '/' || records.id AS key, max(version)::bigint AS version,
                bool_or(deleted_at IS NULL) AS is_there
            FROM records JOIN collections ON collections.id = collection_id GROUP BY 1
            UNION ALL SELECT 'photos/' || random_id, 0, true FROM photos WHERE state = 'ready'
            """
        )
        var (versions, present): ([String: Int], Set<String>) = ([:], [])
        for row in rows {
            let key: String = try row.decode("key")
            versions[key] = try row.decode("version")
            if try row.decode("is_there", as: Bool.self) { present.insert(key) }
        }
        self.init(versions: versions, present: present)
    }
}
