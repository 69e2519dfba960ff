import CLinux

/// Gives memory back to the system that a burst of requests has left free.
///
/// The C library keeps it otherwise, in pieces between what is still in use, for as long as the process lives.
struct MemoryTrimmer {
    /// How many bytes the C library keeps that nobody uses.
    var freeBytes: @Sendable () -> Int = { mallinfo2().fordblks }
    /// Gives them back.
    var trim: @Sendable () -> Void = { _ = malloc_trim(0) }

    /// Less than this is not worth the pages that the next requests would have to ask for again.
    private static let minFreeBytes = 8 * 1024 * 1024

    func trimIfWorthwhile() {
        if freeBytes() > Self.minFreeBytes { trim() }
    }
}
