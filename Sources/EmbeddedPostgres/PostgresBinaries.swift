import FoundationEssentials
import Glibc

/// One installed version of PostgreSQL.
struct PostgresBinaries: Sendable {
    let folder: String

    /// Such as `15`, as in the data folder's `PG_VERSION`.
    let majorVersion: String

    var initdb: String { folder + "/initdb" }
    var pgCtl: String { folder + "/pg_ctl" }
    var psql: String { folder + "/psql" }

    static func isComplete(_ folder: String) -> Bool {
        ["initdb", "pg_ctl", "postgres", "psql"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: folder + "/" + $0)
        }
    }

    /// The first installation of the data's version, or the very first if there is no data yet.
    ///
    /// - Parameters:
    ///   - search: Where to look.
    ///   - majorVersion: The version that made the data; nil when there is none.
    ///   - user: The user that must be able to run the programs.
    /// - Returns: The programs.
    /// - Throws: `binariesNotFound`, or `versionNotFound` when only other versions are installed.
    static func find(
        _ search: ProgramSearch,
        majorVersion: String?,
        user: ClusterUser
    ) async throws(EmbeddedPostgresError) -> PostgresBinaries {
        let command = Command(user: user)
        var folders = search.folders
        for program in search.configPrograms {
            guard let outcome = try? await command.run(program, ["--bindir"]), outcome.isSuccess else { continue }
            folders += [outcome.output].filter(isComplete)
        }
        var found: [String] = []
        for folder in folders {
            guard let outcome = try? await command.run(folder + "/postgres", ["--version"]),
                let version = Self.majorVersion(in: outcome.output)
            else { continue }
            if majorVersion == nil || version == majorVersion {
                return PostgresBinaries(folder: folder, majorVersion: version)
            }
            found.append(version)
        }
        guard let majorVersion, !found.isEmpty else { throw .binariesNotFound(searched: search.locations) }
        throw .versionNotFound(needed: majorVersion, found: Array(Set(found)).sorted())
    }

    /// The major version in `postgres (PostgreSQL) 15.20 (Debian …)`: one number since 10, two before.
    static func majorVersion(in text: String) -> String? {
        guard let start = text.firstRange(of: "(PostgreSQL) ")?.upperBound else { return nil }
        let numbers = text[start...].prefix { $0.isASCII && ($0.isNumber || $0 == ".") }.split(separator: ".")
        guard let major = numbers.first, let number = Int(major) else { return nil }
        return number >= 10 ? String(major) : numbers.prefix(2).joined(separator: ".")
    }
}
