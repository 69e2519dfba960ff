package import Foundation
import Glibc
import Synchronization

/// A folder that the tests of this process share.
///
/// It goes with the process, however that ends, and the PostgreSQL servers in it go first. It lies in memory where there
/// is enough: making and dropping hundreds of databases costs a disk's file system more than the tests themselves.
package final class RunFolder: Sendable {
    private static let shared = Result { try RunFolder() }

    /// The folder, open to every user, with a short path.
    ///
    /// - Throws: An error of Foundation's when it can't be made.
    package static var url: URL {
        get throws { try shared.get().url }
    }

    private let url: URL
    private let cleaner = Mutex<(process: Process, lifeline: Pipe)?>(nil)

    private static let (memory, disk) = ("/dev/shm", "/tmp")
    private static let minMemoryBytes: UInt = 4 << 30
    private static let prefix = "selfie-tests-"

    private init() throws {
        try Self.cleanUpAfterKilledRuns()
        let parent = Self.hasRoom(Self.memory) ? Self.memory : Self.disk
        url = URL(filePath: "\(parent)/\(Self.prefix)\(getpid())")
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755]
        )
        let (shell, lifeline) = (Process(), Pipe())
        shell.executableURL = URL(filePath: "/bin/sh")
        // The end of this process is the end of file that the shell waits for.
        shell.arguments = ["-c", "read -r end; \(Self.cleaning)", "sh", url.path]
        shell.standardInput = lifeline
        try shell.run()
        cleaner.withLock { $0 = (shell, lifeline) }
    }

    /// Removes the folder `$1` once the servers in it have ended, which takes half a minute at most.
    private static let cleaning = """
        for file in "$1"/*/data/postmaster.pid; do
            [ -e "$file" ] || continue
            read -r server <"$file"
            # The number may be another process's by now.
            [ "/proc/$server/cwd" -ef "${file%/*}" ] || continue
            kill -QUIT "$server"
            for try in $(seq 600); do kill -0 "$server" || break; sleep 0.05; done
        done 2>/dev/null
        rm -rf "$1"
        """

    /// Does for others what they could not do: a machine that kills a run kills its shell, too.
    private static func cleanUpAfterKilledRuns() throws {
        for parent in [memory, disk] where FileManager.default.fileExists(atPath: parent) {
            try cleanUpAfterKilledRuns(in: parent)
        }
    }

    private static func cleanUpAfterKilledRuns(in parent: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: parent) where name.hasPrefix(prefix) {
            guard let processID = pid_t(name.dropFirst(prefix.count)) else { continue }
            // One that has this process's number was left by an earlier process: this one has made none yet.
            guard processID == getpid() || (kill(processID, 0) != 0 && errno == ESRCH) else { continue }
            let shell = Process()
            shell.executableURL = URL(filePath: "/bin/sh")
            shell.arguments = ["-c", cleaning, "sh", "\(parent)/\(name)"]
            try shell.run()
            shell.waitUntilExit()
        }
    }

    private static func hasRoom(_ folder: String) -> Bool {
        var status = statvfs()
        guard access(folder, W_OK) == 0, statvfs(folder, &status) == 0 else { return false }
        return status.f_bavail * status.f_frsize >= minMemoryBytes
    }
}
