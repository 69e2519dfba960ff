import Foundation
import Glibc
import ServerProcesses
import Testing

@testable import selfie

@Suite("Writing the log", .timeLimit(.minutes(1)))
struct LogWriterTests {
    /// A pipe that holds one page, and a writer into it.
    private struct SmallPipe {
        let pipe = Pipe()
        let writer: LogWriter

        init(maxBytes: Int) throws {
            let descriptor = pipe.fileHandleForWriting.fileDescriptor
            _ = fcntl(descriptor, Self.setPipeSize, 4096)
            writer = LogWriter(descriptor: descriptor, maxBytes: maxBytes) { Array("lost \($0)\n".utf8) }
        }

        /// Source: linux/fcntl.h, `F_SETPIPE_SZ`.
        private static let setPipeSize: Int32 = 1031

        /// How many bytes wait to be read.
        var byteCount: Int {
            var count: Int32 = 0
            _ = ioctl(pipe.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count)
            return Int(count)
        }

        func read() -> String {
            String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        }
    }

    private static func line(_ number: Int) -> String { "\(number) \(String(repeating: "x", count: 93))" }

    @Test("No caller waits for a full pipe; dropped lines are counted, and reported once there is room")
    func unread() async throws {
        let pipe = try SmallPipe(maxBytes: 10_000)
        let first = String(repeating: "x", count: 4_999)
        pipe.writer.write(Array("\(first)\n".utf8))
        try await poll("the pipe is full") { pipe.byteCount == 4096 }
        // It would take for ever if it waited.
        for number in 0..<1_000 { pipe.writer.write(Array("\(Self.line(number))\n".utf8)) }
        var text = ""
        while !text.contains("lost") { text += pipe.read() }
        let lines = text.split(separator: "\n").map(String.init)
        let keptCount = lines.count - 2
        #expect(lines == [first] + (0..<keptCount).map(Self.line) + ["lost \(1_000 - keptCount)"])
        // Those that fit in 10,000 bytes.
        #expect((101...105).contains(keptCount), "\(keptCount)")

        pipe.writer.write(Array("more\n".utf8))
        #expect(pipe.read() == "more\n")
    }

    @Test("Lines of many threads come whole, and those of one thread in order")
    func threads() async throws {
        let pipe = try SmallPipe(maxBytes: 1 << 20)
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<500 { pipe.writer.write(Array("\(thread) \(number)\n".utf8)) }
                }
            }
        }
        var text = ""
        while text.count(where: { $0 == "\n" }) < 4_000 { text += pipe.read() }
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").compactMap { Int($0) } }
        for thread in 0..<8 { #expect(lines.filter { $0[0] == thread }.map { $0[1] } == Array(0..<500)) }
    }

    @Test("Without a thread, the caller writes")
    func noThread() throws {
        let pipe = Pipe()
        let writer = LogWriter(
            descriptor: pipe.fileHandleForWriting.fileDescriptor,
            lossLine: { _ in [] },
            startThread: { _, _ in false }
        )
        writer.write(Array("a line\n".utf8))
        #expect(pipe.fileHandleForReading.availableData == Data("a line\n".utf8))
    }

    @Test("A line after a failed write has the number of lost lines")
    func failure() throws {
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        // A descriptor that is none until a file gets its number. Other tests get the lowest numbers that are free.
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        limit.rlim_cur = min(limit.rlim_max, 1_000_000)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let free = open("/dev/null", O_WRONLY | O_CLOEXEC)
        let number = fcntl(free, F_DUPFD_CLOEXEC, Int32(limit.rlim_cur) - 10)
        #expect(number >= 0)
        close(free)
        close(number)
        let writer = LogWriter(descriptor: number) { Array("lost \($0)\n".utf8) }
        for text in ["a\n", "b\n"] {
            writer.write(Array(text.utf8))
            writer.flush(within: .seconds(10))
        }
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(dup2(descriptor, number) == number)
        defer { close(number) }
        close(descriptor)
        writer.write(Array("c\n".utf8))
        writer.flush(within: .seconds(10))
        #expect(try String(contentsOf: file, encoding: .utf8) == "c\nlost 2\n")
    }

    @Test("Flushing waits until all is written, but not forever")
    func flush() throws {
        let pipe = try SmallPipe(maxBytes: 100_000)
        pipe.writer.write(Array("last\n".utf8))
        pipe.writer.flush(within: .seconds(10))
        #expect(pipe.read() == "last\n")
        for number in 0..<100 { pipe.writer.write(Array((Self.line(number) + "\n").utf8)) }
        let start = Date()
        pipe.writer.flush(within: .seconds(0.2))
        #expect(Date().timeIntervalSince(start) >= 0.2)
        // So that its thread need not wait for ever.
        var text = ""
        while !text.contains(Self.line(99)) { text += pipe.read() }
    }
}
