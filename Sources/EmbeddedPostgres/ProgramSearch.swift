import FoundationEssentials
import Glibc
import SystemPackage

/// The folders in which to search for PostgreSQL's programs, best first.
package struct ProgramSearch: Sendable {
    /// Folders as in `PATH`, in order.
    ///
    /// Links are followed, so that the programs beside their target are found too.
    package var path: [String]

    /// Shell patterns of the distributions' folders, one folder per version; the highest version comes first.
    var patterns: [String]

    /// - Parameters:
    ///   - path: Folders, in order; the programs themselves or `pg_config` may lie there.
    ///   - patterns: Shell patterns that match `bin` folders.
    package init(path: [String], patterns: [String]) {
        self.path = path
        self.patterns = patterns
    }

    /// `PATH`, then the folders of Debian, Red Hat and Alpine.
    package static var system: ProgramSearch {
        ProgramSearch(
            path: (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init),
            patterns: [
                "/usr/lib/postgresql/*/bin",
                "/usr/pgsql-*/bin",
                "/usr/libexec/postgresql*",
            ]
        )
    }

    /// Finds a program that comes with PostgreSQL's own, such as `pgbench`.
    ///
    /// - Parameter name: The program's name.
    /// - Returns: Its path in the best folder that has it, or nil.
    package func program(named name: String) -> String? {
        folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// All folders and patterns that were searched, for the error.
    var locations: [String] { path + patterns }

    /// Folders that hold all the programs.
    var folders: [String] {
        (path.compactMap(Self.targetFolder) + patterns.flatMap(Self.matches)).filter(PostgresBinaries.isComplete)
    }

    /// Each `pg_config` on the path: it knows the folder even where no pattern does.
    var configPrograms: [String] {
        path.map { $0 + "/pg_config" }.filter(FileManager.default.isExecutableFile)
    }

    /// Sorts by the last number in the name, so `…/15/bin` comes before `…/9.6/bin`.
    static func highestVersionFirst(_ folders: [String]) -> [String] {
        func version(_ folder: String) -> Int {
            folder.split { !$0.isASCII || !$0.isNumber }.last.flatMap { Int($0) } ?? 0
        }
        return folders.sorted { version($0) > version($1) }
    }

    private static func targetFolder(_ folder: String) -> String? {
        guard let target = realpath(folder + "/postgres", nil) else { return nil }
        defer { free(target) }
        return FilePath(String(cString: target)).removingLastComponent().string
    }

    private static func matches(_ pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, 0, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
        return highestVersionFirst((0..<Int(found.gl_pathc)).compactMap { paths[$0].map { String(cString: $0) } })
    }
}
