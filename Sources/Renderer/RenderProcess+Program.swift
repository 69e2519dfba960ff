import Glibc

extension RenderProcess {
    /// The name of the renderer's program.
    package static let programName = "selfie-render"

    /// Where the renderer's program is: in the folder of the program that runs.
    ///
    /// Nil when the system does not tell the folder. The program itself may be missing.
    package static var programBesideThis: String? {
        // proc_pid_exe(5): a program that was replaced since has " (deleted)" behind its name, not its folder.
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = path.lastIndex(of: "/") else { return nil }
        return path[...slash] + programName
    }
}
