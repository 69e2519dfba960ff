import Foundation
import Glibc
import Renderer
import ServerProcesses
import TestSupport

/// A picture that does not come: the end of a pipe to which nobody writes, for a renderer that waits.
final class WaitingPicture {
    let readEnd: Int32
    private var writeEnd: Int32

    private init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NotInTime(what: "a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        closeWriteEnd()
    }

    static func with<Result>(_ body: (WaitingPicture) async throws -> Result) async throws -> Result {
        let picture = try WaitingPicture()
        defer { picture.closeWriteEnd() }
        return try await body(picture)
    }

    /// Renders it, which lasts.
    func rendering() throws -> Task<RenderOutcome, any Error> {
        let (file, renderer) = (readEnd, try TestPicture.renderer())
        return Task { try await renderer.render(file, longerSide: 32) }
    }

    func write(_ bytes: Data) throws {
        guard bytes.withUnsafeBytes({ Glibc.write(writeEnd, $0.baseAddress, $0.count) }) == bytes.count else {
            throw NotInTime(what: "room in a pipe")
        }
    }

    func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    /// The renderer that waits for it, once its sandbox is closed; see proc_pid_status(5).
    func renderer() async throws -> pid_t {
        try await found("a renderer that waits") { try waitingRenderer() }
    }

    func waitingRenderer() throws -> pid_t? {
        let pipe = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(readEnd)")
        return try ProcessTable.children(of: getpid()).first { processID in
            let input = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(processID)/fd/0")
            return input == pipe && Self.status(of: processID, "Seccomp") == "2"
        }
    }

    /// A line of a process's status.
    static func status(of processID: pid_t, _ name: String) -> String? {
        let text = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: \.isWhitespace).last.map(String.init)
    }
}
