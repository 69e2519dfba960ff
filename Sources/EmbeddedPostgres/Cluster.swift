import FoundationEssentials
import Glibc

/// The steps of starting and stopping a cluster.
///
/// The caller holds its lock.
struct Cluster: Sendable {
    /// The name of the superuser and of the database.
    let name: String
    let location: ClusterLocation
    let options: ServerOptions
    let binaries: PostgresBinaries
    let command: Command
    let data: DataFolder
    /// How long a start waits for the sessions of a server that was killed.
    var maxLingeringSessions: Duration = .seconds(10)

    init(
        name: String,
        location: ClusterLocation,
        settings: [String: String],
        binaries: PostgresBinaries,
        user: ClusterUser
    ) {
        self.name = name
        self.location = location
        self.binaries = binaries
        options = ServerOptions(settings: settings, socketDirectory: location.socketDirectory)
        command = Command(user: user)
        data = DataFolder(home: location.home)
    }

    var url: String { location.url(user: name, database: name) }

    /// Starts the server, in whatever state its files are, until ``url`` answers.
    ///
    /// A running server of this cluster is reused if it has these settings and answers. Otherwise it is restarted.
    ///
    /// - Throws: `commandFailed` or `startFailed` with what PostgreSQL said; then no server runs.
    func start() async throws(EmbeddedPostgresError) {
        if data.majorVersion == nil {
            try await initialize(locales: ["C.UTF-8", "C"])
        }
        do throws(EmbeddedPostgresError) {
            if try await !isAsExpected() {
                try await stop()
                try await launch()
            }
            try await createDatabase()
        } catch {
            try? await stop()
            throw error
        }
    }

    /// Ends the server and its sessions.
    ///
    /// After 20 s it is ended at once.
    ///
    /// - Throws: `commandFailed` when the server runs on.
    func stop() async throws(EmbeddedPostgresError) {
        guard try await isRunning() else { return }
        if try await pgCtl(["stop", "-m", "fast", "-w", "-t", "20"]).isSuccess { return }
        // It may have ended by itself meanwhile.
        guard try await isRunning() else { return }
        let outcome = try await pgCtl(["stop", "-m", "immediate", "-w", "-t", "10"])
        if outcome.isSuccess { return }
        guard try await !isRunning() else {
            throw .commandFailed(command: "pg_ctl stop", output: outcome.output)
        }
    }

    /// Whether a server runs on this data.
    ///
    /// Removes the lock files of a dead one, where PostgreSQL itself would refuse to start.
    ///
    /// After a reboot another program of the same user may have the number in `postmaster.pid`. PostgreSQL then refuses
    /// to start, and `pg_ctl stop` would end that program. So we check the process: a server's working directory is its
    /// data folder.
    func isRunning() async throws(EmbeddedPostgresError) -> Bool {
        switch data.postmaster {
        case .none:
            return false
        case .unreadable:
            data.removeStaleLocks(socketDirectory: location.socketDirectory)
            return false
        case .claimed(let processID):
            guard try await pgCtl(["status"]).isSuccess else { return false }
            let folder = try await command.run("readlink", ["/proc/\(processID)/cwd"])
            if folder.isSuccess ? folder.output != data.path : Self.isZombie(processID) {
                data.removeStaleLocks(socketDirectory: location.socketDirectory)
            }
            return folder.isSuccess && folder.output == data.path
        }
    }

    /// Whether a process has ended, but its parent has not noticed.
    ///
    /// The first process of some containers never notices, and PostgreSQL takes such a process for a running server.
    private static func isZombie(_ processID: pid_t) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
        // The state follows the name. The name is in parentheses, and may contain some (proc(5)).
        return status?.split(separator: ")").last?.split(separator: " ").first == "Z"
    }

    func pgCtl(_ arguments: [String]) async throws(EmbeddedPostgresError) -> Command.Outcome {
        try await command.run(binaries.pgCtl, arguments + ["-D", DataFolder.name], in: location.home)
    }

    /// Runs one statement; see `psql`'s manual page for the form of the answer, here unaligned and without headers.
    func query(_ statement: String, database: String) async throws(EmbeddedPostgresError) -> String {
        try await command.succeed(
            binaries.psql,
            ["-X", "-q", "-A", "-t", "-w", "-c", statement, location.url(user: name, database: database)]
        )
    }

    private func isAsExpected() async throws(EmbeddedPostgresError) -> Bool {
        guard try await isRunning(), options.matches(postmasterOptions: data.postmasterOptions ?? "") else {
            return false
        }
        return (try? await query("show data_directory", database: "postgres")) == data.path
    }

    private func createDatabase() async throws(EmbeddedPostgresError) {
        let found = "select 1 from pg_database where datname = '\(name)'"
        guard try await query(found, database: "postgres").isEmpty else { return }
        // From template0, since a session in template1 would make this fail.
        _ = try await query("create database \(name) template template0", database: "postgres")
    }
}
