import FoundationEssentials
import Glibc

/// The two steps that create something: the data, and the server's process.
extension Cluster {
    /// Makes the data folder.
    ///
    /// It has another name until it is complete, so a run that is cut short leaves no half of it.
    ///
    /// - Parameter locales: Tried in order, since not every system has `C.UTF-8`. The encoding is UTF-8 with each.
    /// - Throws: `commandFailed`, or `fileSystem` when something else has the data folder's name.
    func initialize(locales: [String]) async throws(EmbeddedPostgresError) {
        let incomplete = DataFolder.name + ".incomplete"
        var locales = locales[...]
        while let locale = locales.popFirst() {
            try await command.succeed("rm", ["-rf", incomplete], in: location.home)
            do throws(EmbeddedPostgresError) {
                try await command.succeed(
                    binaries.initdb,
                    [
                        "--pgdata=\(incomplete)", "--username=\(name)", "--auth=trust", "--encoding=UTF8",
                        "--locale=\(locale)", "--no-instructions",
                    ],
                    in: location.home
                )
                break
            } catch {
                guard case .commandFailed(_, let output) = error, output.contains("invalid locale name"),
                    !locales.isEmpty
                else { throw error }
            }
        }
        guard rename(location.home + "/" + incomplete, data.path) == 0 else {
            throw .fileSystem(operation: "make", path: data.path, code: errno)
        }
    }

    /// Starts the server and waits until it accepts connections.
    ///
    /// - Throws: `startFailed` with the log's end.
    func launch() async throws(EmbeddedPostgresError) {
        // The log of the last run stays; older ones are deleted.
        rename(logPath, logPath + ".1")
        let deadline = ContinuousClock.now + maxLingeringSessions
        while true {
            let outcome = try await pgCtl([
                "start", "-w", "-t", "30", "-l", Self.logName, "-o", options.shellQuoted,
            ])
            if outcome.isSuccess { return }
            let log = logTail()
            // The sessions of a killed server hold the data until they notice.
            guard log.contains("pre-existing shared memory block"), ContinuousClock.now < deadline else {
                throw .startFailed(output: outcome.output, logPath: logPath, logTail: log)
            }
            try? await Task.sleep(for: .milliseconds(100))
            unlink(logPath)
        }
    }

    private static let logName = "postgres.log"
    private static let maxLogTailLines = 20

    private var logPath: String { location.home + "/" + Self.logName }

    private func logTail() -> String {
        let log = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
        return log.split(separator: "\n").suffix(Self.maxLogTailLines).joined(separator: "\n")
    }
}
