import Foundation
import ServerProcesses
import Testing

@testable import EmbeddedPostgres

@Suite("PostgreSQL's programs", .timeLimit(.minutes(3)))
struct PostgresBinariesTests {
    @Test("None found: the error says what to install and where was searched")
    func missingPrograms() async throws {
        try await TestFolder.use { folder in
            let search = ProgramSearch(path: [folder.path], patterns: ["/nowhere/*/bin"])
            let error = await #expect(throws: EmbeddedPostgresError.self) {
                try await folder.handle(search: search).start()
            }
            #expect(error?.description.contains("apt-get install postgresql") == true)
            #expect(error?.description.contains("\(folder.path), /nowhere/*/bin") == true)
        }
    }

    @Test("The version that made the data is searched for among all that are installed")
    func matchingVersion() async throws {
        try await TestFolder.use { folder in
            let user = try ClusterUser.current()
            try install("16", in: folder)
            try install("9.6", in: folder)
            try install("17", in: folder, without: "psql")
            let search = ProgramSearch(path: [], patterns: [folder.path + "/versions/*/bin"])

            let newest = try await PostgresBinaries.find(search, majorVersion: nil, user: user)
            #expect(newest.folder == folder.path + "/versions/16/bin")
            let older = try await PostgresBinaries.find(search, majorVersion: "9.6", user: user)
            #expect(older.folder == folder.path + "/versions/9.6/bin")
            let error = await #expect(throws: EmbeddedPostgresError.self) {
                try await PostgresBinaries.find(search, majorVersion: "17", user: user)
            }
            #expect(error?.description.contains("made by PostgreSQL 17, but only 16, 9.6 is installed") == true)
        }
    }

    @Test("A link on the path leads to the folder of its target, and pg_config to the one it names")
    func linksAndConfig() async throws {
        try await TestFolder.use { folder in
            let user = try ClusterUser.current()
            try install("16", in: folder)
            let installed = folder.path + "/versions/16/bin"
            let linked = folder.path + "/linked"
            mkdir(linked, 0o755)
            symlink(installed + "/postgres", linked + "/postgres")
            let byLink = ProgramSearch(path: [linked], patterns: [])
            #expect(try await PostgresBinaries.find(byLink, majorVersion: nil, user: user).folder == installed)

            let configured = folder.path + "/configured"
            mkdir(configured, 0o755)
            try script("echo \(installed)", at: configured + "/pg_config")
            let byConfig = ProgramSearch(path: [configured], patterns: [])
            #expect(try await PostgresBinaries.find(byConfig, majorVersion: nil, user: user).folder == installed)
        }
    }

    @Test(
        "The major version is read as PG_VERSION has it",
        arguments: [
            ("postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)", "15"), ("postgres (PostgreSQL) 18beta1", "18"),
            ("postgres (PostgreSQL) 9.6.24", "9.6"), ("postgres (PostgreSQL) devel", nil), ("bash: not found", nil),
        ]
    )
    func majorVersion(text: String, version: String?) {
        #expect(PostgresBinaries.majorVersion(in: text) == version)
    }

    @Test("The highest version comes first, by number")
    func versionOrder() {
        #expect(
            ProgramSearch.highestVersionFirst(["/a/9/bin", "/a/9.6/bin", "/a/17/bin", "/b@15/bin", "/c/bin"])
                == ["/a/17/bin", "/b@15/bin", "/a/9/bin", "/a/9.6/bin", "/c/bin"]
        )
    }

    @Test("A locale that the system lacks is replaced by the next one")
    func missingLocale() async throws {
        try await TestFolder.use { folder in
            let user = try ClusterUser.current()
            let home = try PrivateFolder.make(folder.cluster, for: user)
            let location = ClusterLocation(
                name: "selfie",
                directory: home,
                temporaryDirectory: folder.temporary,
                isEnterable: true
            )
            let binaries = try await PostgresBinaries.find(.system, majorVersion: nil, user: user)
            let cluster = Cluster(name: "selfie", location: location, settings: [:], binaries: binaries, user: user)
            await #expect(throws: EmbeddedPostgresError.self) { try await cluster.initialize(locales: ["xx_YY.UTF-8"]) }
            #expect(cluster.data.majorVersion == nil)
            try await cluster.initialize(locales: ["xx_YY.UTF-8", "C"])
            #expect(cluster.data.majorVersion == binaries.majorVersion)
        }
    }

    @Test(
        "Without a user to stand in for root the error says how to get one",
        .enabled(if: geteuid() == 0, "only root needs a stand-in")
    )
    func missingServiceAccount() {
        let error = #expect(throws: EmbeddedPostgresError.self) {
            try ClusterUser.current(serviceAccount: "no-such-user")
        }
        #expect(error?.description.contains("there is no user 'no-such-user'") == true)
    }

    private func install(_ version: String, in folder: TestFolder, without missing: String? = nil) throws {
        let bin = folder.path + "/versions/\(version)/bin"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        for program in ["initdb", "pg_ctl", "postgres", "psql"] where program != missing {
            try script("echo '\(program) (PostgreSQL) \(version).1'", at: bin + "/" + program)
        }
    }

    private func script(_ line: String, at path: String) throws {
        try "#!/bin/sh\n\(line)\n".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o755)
    }
}
