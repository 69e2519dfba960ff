import FoundationEssentials
import Glibc

/// The account that owns the cluster's files and runs PostgreSQL's programs.
struct ClusterUser: Sendable, Equatable {
    let userID: uid_t
    let groupID: gid_t

    /// Whether the programs must run as another user than this process.
    let isAnother: Bool

    /// This process's own user.
    ///
    /// PostgreSQL refuses root, so root is replaced.
    ///
    /// - Parameter serviceAccount: The user that stands in for root; PostgreSQL's packages make `postgres`.
    /// - Returns: The user to run PostgreSQL as.
    /// - Throws: `noServiceAccount` when this is root and the stand-in does not exist.
    static func current(serviceAccount: String = "postgres") throws(EmbeddedPostgresError) -> ClusterUser {
        guard geteuid() == 0 else {
            return ClusterUser(userID: geteuid(), groupID: getegid(), isAnother: false)
        }
        let bufferBytes = 16 * 1024
        var buffer = [CChar](repeating: 0, count: bufferBytes)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwnam_r(serviceAccount, &entry, &buffer, bufferBytes, &found) == 0, found != nil else {
            throw .noServiceAccount(name: serviceAccount)
        }
        return ClusterUser(userID: entry.pw_uid, groupID: entry.pw_gid, isAnother: true)
    }
}
