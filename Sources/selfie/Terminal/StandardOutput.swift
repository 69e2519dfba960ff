import CLinux
import Glibc

/// Where results go.
enum StandardOutput {
    /// Writes out what was printed.
    ///
    /// - Throws: ``UnwritableOutput`` when anything could not be written, since an incomplete result must not look complete.
    static func finish() throws {
        let code = linux_flush_output()
        guard code == 0 else { throw UnwritableOutput(reason: String(cString: strerror(code))) }
    }
}

/// A result could not be written in full.
struct UnwritableOutput: Error, CustomStringConvertible {
    let reason: String

    var description: String { "The result could not be written to standard output: \(reason)." }
}
