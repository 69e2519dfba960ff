import Glibc

/// How many files and sockets the process may have open.
enum OpenFileLimit {
    /// Raises the limit to what the system allows: the customary 1,024 is soon used up by idle connections.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        // A system that refuses leaves the limit as it was.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
