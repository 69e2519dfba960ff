import FoundationEssentials
import Glibc

/// What the system says about this process.
struct ProcessFigures {
    /// Memory in use, in bytes.
    let residentBytes: Int
    let openDescriptors: Int
    let maxDescriptors: Int
    /// Processor time since the start, in seconds.
    let processorSeconds: Double

    /// Asks the system (proc(5), getrusage(2)).
    static func current() -> ProcessFigures {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            .dropFirst().first.flatMap { Int($0) }
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let times = [usage.ru_utime, usage.ru_stime]
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return ProcessFigures(
            residentBytes: (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))),
            // One of them lists the folder.
            openDescriptors: (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1) ?? 0,
            maxDescriptors: Int(clamping: limit.rlim_cur),
            processorSeconds: times.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
        )
    }
}
