import Glibc

/// How many files and sockets the process may have open.
package enum OpenFileLimit {
    /// Raises the limit to the system's maximum: idle connections soon use up the usual 1,024.
    ///
    /// - Returns: The limit that holds from now on.
    @discardableResult
    package static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return usual }
        limit.rlim_cur = limit.rlim_max
        // If the system refuses, the limit stays as it was.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return usual }
        return Int(clamping: limit.rlim_cur)
    }

    /// The usual default of systems.
    private static let usual = 1_024
}
