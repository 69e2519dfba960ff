/// Which steps to revert.
package enum RollbackTarget: Sendable {
    /// The last ones, this many; all when there are fewer.
    case last(Int)
    /// All after this version, which stays.
    case after(version: String)
}

/// Compares the files with the database: what is applied and what is pending.
///
/// It does no I/O.
package struct MigrationPlan: Sendable {
    /// The state of one version.
    package enum State: String, Sendable {
        case applied
        case pending
        /// Applied, and its file was changed since.
        case edited
        /// Applied, and there is no file of this version.
        case missing = "no file"
    }

    package struct Entry: Sendable, Equatable {
        package let version: String
        /// The file's name part; nil without a file.
        package let name: String?
        package let state: State
    }

    /// A version that the database has; `checksum` is nil when Rails applied it.
    struct Applied: Sendable, Equatable {
        let version: String
        let checksum: String?
    }

    private let migrations: [Migration]
    private let checksums: [String: String]
    private let applied: [Applied]

    /// - Parameters:
    ///   - migrations: The files, in order.
    ///   - checksums: The checksum of each file by its version.
    ///   - applied: What the database says was applied.
    init(migrations: [Migration], checksums: [String: String], applied: [Applied]) {
        self.migrations = migrations
        self.checksums = checksums
        self.applied = applied.sorted { $0.version < $1.version }
    }

    /// Every version of files and database, in order.
    package var entries: [Entry] {
        let appliedVersions = Dictionary(applied.map { ($0.version, $0) }) { first, _ in first }
        let files = migrations.map { migration in
            guard let entry = appliedVersions[migration.version] else {
                return Entry(version: migration.version, name: migration.name, state: .pending)
            }
            let isEdited = entry.checksum.map { $0 != checksums[migration.version] } ?? false
            return Entry(version: migration.version, name: migration.name, state: isEdited ? .edited : .applied)
        }
        let known = Set(migrations.map(\.version))
        let orphans = applied.filter { !known.contains($0.version) }
            .map { Entry(version: $0.version, name: nil, state: .missing) }
        return (files + orphans).sorted { $0.version < $1.version }
    }

    /// The steps that are still to be applied, in order.
    ///
    /// - Returns: The pending migrations.
    /// - Throws: `MigrationError.edited` when a file was changed after it was applied.
    package func pending() throws(MigrationError) -> [Migration] {
        let edited = migrations(in: .edited)
        guard edited.isEmpty else { throw .edited(edited) }
        return migrations(in: .pending)
    }

    /// The steps to revert, latest first.
    ///
    /// - Parameters:
    ///   - target: How far to go.
    ///   - protected: Versions that must stay.
    /// - Returns: The migrations to revert.
    /// - Throws: `MigrationError.missingFile` when one of them has no file, `.protected`, or `.notApplied` when the
    ///   database does not have the target's version.
    package func rollback(
        to target: RollbackTarget,
        protecting protected: Set<String> = []
    ) throws(MigrationError) -> [Migration] {
        let entries: ArraySlice<Applied>
        switch target {
        case .last(let count): entries = applied.suffix(count)
        case .after(let version):
            guard let index = applied.firstIndex(where: { $0.version == version }) else {
                throw .notApplied(version: version)
            }
            entries = applied[(index + 1)...]
        }
        var steps: [Migration] = []
        for entry in entries.reversed() {
            guard let migration = migrations.first(where: { $0.version == entry.version }) else {
                throw .missingFile(version: entry.version)
            }
            guard !protected.contains(entry.version) else { throw .protected(migration) }
            steps.append(migration)
        }
        return steps
    }

    private func migrations(in state: State) -> [Migration] {
        let versions = Set(entries.filter { $0.state == state }.map(\.version))
        return migrations.filter { versions.contains($0.version) }
    }
}

extension Migration {
    /// `<version>_<name>.sql`.
    package var fileName: String { "\(version)_\(name).sql" }
}
