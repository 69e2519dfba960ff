import FoundationEssentials
import Glibc

/// The system's metrics of this process (proc(5), getrusage(2), getrlimit(2)).
enum ProcessMetrics {
    /// Memory in use, in bytes.
    static var residentBytes: Int {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            .dropFirst().first.flatMap { Int($0) }
        return (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    static var openDescriptors: Int {
        // One of them lists the folder.
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1) ?? 0
    }

    static var maxDescriptors: Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// Processor time since the start, in seconds.
    static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
}
