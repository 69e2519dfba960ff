import CSpawn
import Glibc

/// How a process ended.
enum ProcessEnding: Equatable {
    case exited(Int32)
    case signaled(Int32)
    /// Something else has waited for it.
    case unknown
}

/// A process that this one has started.
///
/// It is killed and waited for when it is dropped.
///
/// It dies with the thread that started it, if it asked for that (prctl(2), PR_SET_PDEATHSIG). So one thread must start it,
/// watch it and drop it.
struct ChildProcess: ~Copyable {
    private let processID: pid_t
    private var ending: ProcessEnding?

    /// Starts a program, as `spawn_process` says.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - arguments: The words behind its name.
    ///   - input: What becomes its descriptor 0.
    ///   - output: What becomes its descriptor 1.
    /// - Throws: `programMissing`, or `notStarted`.
    init(program: String, arguments: [String], input: Int32, output: Int32) throws(RenderFailure) {
        let words = ([program] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        var processID = pid_t()
        let code = spawn_process(program, words + [nil], input, output, &processID)
        guard code == 0 else {
            throw [ENOENT, EACCES, ENOTDIR, ENOEXEC].contains(code) ? .programMissing : .notStarted
        }
        self.processID = processID
    }

    deinit {
        guard ending == nil else { return }
        kill(processID, SIGKILL)
        _ = Self.wait(for: processID, options: 0)
    }

    /// The resident memory in bytes: 0 when the process has ended; nil when the system does not tell.
    ///
    /// Source: the manual page proc_pid_statm(5).
    var residentBytes: Int? {
        let file = open("/proc/\(processID)/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let text = withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { buffer in
            String(decoding: buffer.prefix(max(0, read(file, buffer.baseAddress, buffer.count))), as: UTF8.self)
        }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(getpagesize())
    }

    /// Kills it, and waits until it is gone.
    mutating func end() {
        // Once it was waited for, its number may be another process's.
        guard ending == nil else { return }
        kill(processID, SIGKILL)
        ending = Self.wait(for: processID, options: 0)
    }

    /// How it ended; nil while it runs.
    mutating func ended() -> ProcessEnding? {
        ending = ending ?? Self.wait(for: processID, options: WNOHANG)
        return ending
    }

    private static func wait(for processID: pid_t, options: Int32) -> ProcessEnding? {
        while true {
            var status: Int32 = 0
            let result = waitpid(processID, &status, options)
            if result == 0 { return nil }
            if result < 0 {
                if errno == EINTR { continue }
                return .unknown
            }
            // The macros of wait(2) are not there for Swift: the signal has 7 bits, the code the next 8.
            let signal = status & 0x7F
            return signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
        }
    }
}
