import Foundation
import Glibc
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport

/// `selfie` with a terminal as its standard input, as for somebody who sits before it.
struct TerminalProcess {
    /// What it left behind.
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
        /// What the terminal showed of what was typed.
        let echo: String
        /// Whether the terminal shows what is typed, after the end.
        let showsTyping: Bool
    }

    private let outer: CInt

    /// Runs the executable to its end.
    ///
    /// - Parameters:
    ///   - arguments: The command and its options.
    ///   - environment: What its environment has of its own.
    ///   - line: What is typed; nil for nothing.
    ///   - more: What is typed later, each line after its question.
    ///   - signal: What is sent to the process instead; nil for nothing.
    ///   - question: What standard error must have before it is typed.
    /// - Returns: How it ended and what it printed.
    /// - Throws: `NotInTime` without a terminal, or an error of Foundation's.
    static func run(
        _ arguments: [String],
        environment: [String: String],
        typing line: String? = nil,
        then more: [(question: String, line: String)] = [],
        sending signal: Int32? = nil,
        after question: String = ""
    )
        async throws -> Outcome
    {
        let terminal = try TerminalProcess()
        defer { close(terminal.outer) }
        guard let input = FileHandle(forUpdatingAtPath: try terminal.path()) else {
            throw NotInTime(what: "the terminal")
        }
        return try await TemporaryFolder.with { folder in
            let (output, errors) = (folder.appending(path: "out"), folder.appending(path: "err"))
            for file in [output, errors] { try Data().write(to: file) }
            let process = Process()
            process.executableURL = try SelfieProcess.executable
            process.arguments = arguments
            process.environment = ChildEnvironment.with(environment)
            process.currentDirectoryURL = folder
            process.standardInput = input
            process.standardOutput = try FileHandle(forWritingTo: output)
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.run()
            try await poll("it asks") {
                try question.isEmpty || String(contentsOf: errors, encoding: .utf8).contains(question)
            }
            if let signal { kill(process.processIdentifier, signal) }
            if let line { try FileHandle(fileDescriptor: terminal.outer).write(contentsOf: Data("\(line)\n".utf8)) }
            for (question, line) in more {
                try await poll("it asks again") { try String(contentsOf: errors, encoding: .utf8).contains(question) }
                try FileHandle(fileDescriptor: terminal.outer).write(contentsOf: Data("\(line)\n".utf8))
            }
            try await poll("it ends") { !process.isRunning }
            return Outcome(
                status: process.terminationStatus,
                output: try String(contentsOf: output, encoding: .utf8),
                errors: try String(contentsOf: errors, encoding: .utf8),
                echo: terminal.shown(),
                showsTyping: terminal.showsTyping()
            )
        }
    }

    /// What the terminal shows, as far as it was not read.
    private func shown() -> String {
        _ = fcntl(outer, F_SETFL, O_NONBLOCK)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(outer, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    private func showsTyping() -> Bool {
        var settings = termios()
        return tcgetattr(outer, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    private init() throws {
        outer = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var isLocked: CInt = 0
        guard outer >= 0, ioctl(outer, Self.setLock, &isLocked) == 0 else { throw NotInTime(what: "a terminal") }
    }

    /// The terminal that programs see; see ioctl_tty(2).
    private func path() throws -> String {
        var number: CInt = 0
        guard ioctl(outer, Self.getNumber, &number) == 0 else { throw NotInTime(what: "the terminal's number") }
        return "/dev/pts/\(number)"
    }

    /// `TIOCSPTLCK` and `TIOCGPTN` of asm-generic/ioctls.h, which Swift does not import.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
}
