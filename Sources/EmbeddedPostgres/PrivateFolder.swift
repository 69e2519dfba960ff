import FoundationEssentials
import Glibc
import SystemPackage

/// Makes folders that only the cluster's user can enter.
enum PrivateFolder {
    /// Makes `path` and its parents if they are missing, and claims it for `user`.
    ///
    /// - Parameters:
    ///   - path: Absolute, or relative to the working directory. Links on the way are followed: they are the caller's.
    ///   - user: The new owner.
    /// - Returns: The folder's absolute path without links.
    /// - Throws: `fileSystem`, or `folderNotOurs` when another user owns it.
    static func make(_ path: String, for user: ClusterUser) throws(EmbeddedPostgresError) -> String {
        try makeWithParents(path)
        let absolute = try resolve(path)
        try claim(absolute, for: user)
        return absolute
    }

    /// The absolute path, without links, of a folder that exists.
    static func resolve(_ path: String) throws(EmbeddedPostgresError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw .fileSystem(operation: "find", path: path, code: errno)
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Makes `path` with mode 0700, or takes it as it is when it is safe to use.
    ///
    /// Everybody may write to the parent (`/var/tmp`), so a folder of another user is refused.
    ///
    /// - Parameters:
    ///   - path: The folder; never a link.
    ///   - user: The new owner.
    /// - Throws: `fileSystem`, or `folderNotOurs`.
    static func claim(_ path: String, for user: ClusterUser) throws(EmbeddedPostgresError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .fileSystem(operation: "make", path: path, code: errno)
        }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw .fileSystem(operation: "inspect", path: path, code: errno)
        }
        if let reason = refusal(mode: status.st_mode, owner: status.st_uid, allowed: [user.userID, geteuid()]) {
            throw .folderNotOurs(path: path, reason: reason)
        }
        guard lchown(path, user.userID, user.groupID) == 0 else {
            throw .fileSystem(operation: "change the owner of", path: path, code: errno)
        }
        guard chmod(path, 0o700) == 0 else {
            throw .fileSystem(operation: "change the permissions of", path: path, code: errno)
        }
    }

    /// Why an existing file can't be used as a private folder; nil when it can.
    static func refusal(mode: mode_t, owner: uid_t, allowed: [uid_t]) -> String? {
        switch mode & S_IFMT {
        case S_IFDIR: allowed.contains(owner) ? nil : "it belongs to another user (number \(owner))"
        case S_IFLNK: "it is a symbolic link"
        default: "it is not a folder"
        }
    }

    private static func makeWithParents(_ path: String) throws(EmbeddedPostgresError) {
        if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        let code = errno
        let parent = FilePath(path).removingLastComponent().string
        guard code == ENOENT, !parent.isEmpty, parent != path else {
            throw .fileSystem(operation: "make", path: path, code: code)
        }
        try makeWithParents(parent)
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw .fileSystem(operation: "make", path: path, code: errno)
        }
    }
}
