/// A private PostgreSQL cluster for development and tests, reached over a Unix socket only.
///
/// Everything lies in one folder: the data, the server's log, the lock and, when its path is short enough, the socket.
/// One process at a time uses a folder. If a process dies (`kill -9`), the next start takes over its cluster. A handle
/// that is dropped without ``stop()`` leaves the server running.
///
/// Operations run one after the other. Each runs to its end even when the calling task is cancelled. So Ctrl-C leaves
/// no half of a cluster behind, and ``stop()`` works in a cancelled task.
package actor EmbeddedPostgres {
    private let directory: String
    private let name: String
    private let settings: [String: String]
    private let search: ProgramSearch
    private let temporaryDirectory: String
    private let maxLingeringSessions: Duration
    private let notice: @Sendable (String) -> Void

    private var lock: ProcessLock?
    private var cluster: Cluster?
    private var lastOperation: Task<Void, Never>?

    /// Describes a cluster.
    ///
    /// Nothing is made or started before ``start()``.
    ///
    /// - Parameters:
    ///   - directory: The cluster's folder, made when missing (its parents too). Relative to the working directory.
    ///   - name: The name of the superuser and of the database, in small letters and underscores.
    ///   - settings: Server settings such as `["max_connections": "200"]`. The socket's folder, its permissions, the
    ///     port and `listen_addresses` are fixed. A running cluster with other settings is restarted.
    ///   - search: Where to search for PostgreSQL's programs.
    ///   - temporaryDirectory: Parent of a short folder for the socket. It is used when `directory` can't hold the
    ///     socket: its path is too long, has a comma, or is closed to the server's user. Its sticky bit must be set if
    ///     others can write to it.
    ///   - maxLingeringSessions: How long a start waits for the sessions of a server that was killed.
    ///   - notice: Called during a start with a sentence for the user, for each file that is elsewhere than asked.
    package init(
        directory: String,
        name: String,
        settings: [String: String] = [:],
        search: ProgramSearch = .system,
        temporaryDirectory: String = "/var/tmp",
        maxLingeringSessions: Duration = .seconds(10),
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.directory = directory
        self.name = name
        self.settings = settings
        self.search = search
        self.temporaryDirectory = temporaryDirectory
        self.maxLingeringSessions = maxLingeringSessions
        self.notice = notice
    }

    /// Makes the cluster if there is none, starts it, and waits until its database answers.
    ///
    /// If it was started before, it checks that the server answers, and starts it again if not. The first start takes a
    /// few seconds. A server that is not ready after 30 s is a failure.
    ///
    /// - Returns: A connection URL for libpq, `postgresql://<name>@<socket folder, percent-encoded>:5432/<name>`. There
    ///   is no password: all who may enter the socket's folder (mode 0700) are trusted.
    /// - Throws: ``EmbeddedPostgresError``; its description says what to do. A failed first start leaves nothing
    ///   running and nothing locked.
    package func start() async throws(EmbeddedPostgresError) -> String {
        try await inTurn { () async throws(EmbeddedPostgresError) -> String in
            try await self.startNow()
        }
    }

    /// Stops the server and unlocks the folder.
    ///
    /// Does nothing if this handle has not started it.
    ///
    /// It ends open sessions at once. It takes at most 30 s.
    ///
    /// - Throws: ``EmbeddedPostgresError/commandFailed(command:output:)`` when the server survives. Then the folder
    ///   stays locked, and another call tries again.
    package func stop() async throws(EmbeddedPostgresError) {
        try await inTurn { () async throws(EmbeddedPostgresError) in
            try await self.stopNow()
        }
    }

    private func startNow() async throws(EmbeddedPostgresError) -> String {
        if let cluster {
            try await cluster.start()
            return cluster.url
        }
        let user = try ClusterUser.current()
        let home = try PrivateFolder.make(directory, for: user)
        let lock = try ProcessLock(directory: home)
        let cluster = try await prepare(home, user: user)
        try await cluster.start()
        self.lock = consume lock
        self.cluster = cluster
        return cluster.url
    }

    private func stopNow() async throws(EmbeddedPostgresError) {
        guard let cluster else { return }
        try await cluster.stop()
        self.cluster = nil
        lock = nil
    }

    private func prepare(_ directory: String, user: ClusterUser) async throws(EmbeddedPostgresError) -> Cluster {
        let location = ClusterLocation(
            name: name,
            directory: directory,
            temporaryDirectory: try PrivateFolder.resolve(temporaryDirectory),
            isEnterable: try await Command(user: user).canEnter(directory)
        )
        if location.usesShortFolder {
            try PrivateFolder.claim(location.shortFolder, for: user)
        }
        location.notices.forEach(notice)
        let binaries = try await PostgresBinaries.find(
            search,
            majorVersion: DataFolder(home: location.home).majorVersion,
            user: user
        )
        var cluster = Cluster(name: name, location: location, settings: settings, binaries: binaries, user: user)
        cluster.maxLingeringSessions = maxLingeringSessions
        return cluster
    }

    /// Runs `work` after the operations before it, in a task of its own that the caller can't cancel.
    private func inTurn<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(EmbeddedPostgresError) -> Value
    ) async throws(EmbeddedPostgresError) -> Value {
        let previous = lastOperation
        let task = Task { () -> Result<Value, EmbeddedPostgresError> in
            await previous?.value
            do throws(EmbeddedPostgresError) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        lastOperation = Task { _ = await task.value }
        return try await task.value.get()
    }
}
