import Glibc

/// How many files and sockets the process may have open.
enum OpenFileLimit {
    /// Raises the limit to the system's maximum: idle connections soon use up the usual 1,024.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        // If the system refuses, the limit stays as it was.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
