import FoundationEssentials
import Glibc

/// Why a private cluster could not start or stop.
///
/// Each description says what to do.
package enum EmbeddedPostgresError: Error, CustomStringConvertible {
    /// No folder that was searched holds all of PostgreSQL's programs.
    case binariesNotFound(searched: [String])

    /// The data was made by a major version of PostgreSQL that is not installed; `found` lists those that are.
    case versionNotFound(needed: String, found: [String])

    /// This process is root, and the account that must run the server does not exist.
    case noServiceAccount(name: String)

    /// A folder that must be private is another user's, a link, or not a folder.
    case folderNotOurs(path: String, reason: String)

    /// Another handle, in this process or another one, uses the cluster's folder.
    case alreadyInUse(directory: String)

    /// A system call on a file failed with the `errno` in `code`.
    case fileSystem(operation: String, path: String, code: CInt)

    /// A program could not be started, or printed too much.
    case couldNotRun(command: String, cause: any Error)

    /// A program of PostgreSQL's failed with this output.
    case commandFailed(command: String, output: String)

    /// The server did not start; `logTail` is the end of its log.
    case startFailed(output: String, logPath: String, logTail: String)

    /// One or more sentences for the user's terminal.
    package var description: String {
        switch self {
        case .binariesNotFound(let searched):
            """
            PostgreSQL's programs were not found. Install them (Debian, Ubuntu: apt-get install postgresql), \
            or put the folder that holds initdb, pg_ctl, postgres and psql on PATH. \
            Searched: \(searched.joined(separator: ", ")).
            """
        case .versionNotFound(let needed, let found):
            """
            The cluster's data was made by PostgreSQL \(needed), but only \(found.joined(separator: ", ")) \
            is installed. Install version \(needed) (Debian, Ubuntu: apt-get install postgresql-\(needed)), or remove \
            the cluster's folder to begin with an empty database.
            """
        case .noServiceAccount(let name):
            """
            PostgreSQL refuses to run as root, and there is no user '\(name)' to run it as. \
            Install PostgreSQL's package, which makes that user, or run this command as an ordinary user.
            """
        case .folderNotOurs(let path, let reason):
            """
            The cluster cannot use \(path): \(reason). Remove it, or run this command as the user that owns it.
            """
        case .alreadyInUse(let directory):
            """
            The PostgreSQL data in \(directory) is in use by another process. Stop that one first, or use another folder.
            """
        case .fileSystem(let operation, let path, let code):
            """
            Could not \(operation) \(path): \(String(cString: strerror(code))). \
            Check the permissions and the free space there.
            """
        case .couldNotRun(let command, let cause):
            """
            Could not run \(command): \(cause). Check that PostgreSQL is completely installed.
            """
        case .commandFailed(let command, let output):
            """
            PostgreSQL's command failed: \(command)
            It said: \(output)
            """
        case .startFailed(let output, let logPath, let logTail):
            """
            PostgreSQL did not start. pg_ctl said: \(output)
            The end of \(logPath):
            \(logTail)
            """
        }
    }
}
