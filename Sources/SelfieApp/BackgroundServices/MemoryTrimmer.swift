import CLinux

/// Returns free memory to the system after a burst of requests.
///
/// Otherwise the C library keeps it for as long as the process lives, in pieces between used memory.
struct MemoryTrimmer {
    /// How many unused bytes the C library keeps.
    var freeBytes: @Sendable () -> Int = { mallinfo2().fordblks }
    /// Gives them back.
    var trim: @Sendable () -> Void = { _ = malloc_trim(0) }

    /// Less than this is not worth it: the next requests would have to get the pages again.
    private static let minFreeBytes = 8 * 1024 * 1024

    func trimIfWorthwhile() {
        if freeBytes() > Self.minFreeBytes { trim() }
    }
}
