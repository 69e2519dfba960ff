import Foundation
import Glibc
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import Renderer

@Suite("The renderer's sandbox", .timeLimit(.minutes(3)))
struct SandboxTests {
    @Test("A renderer that tries a forbidden call is killed", arguments: 0...22)
    func forbidden(number: Int) async throws {
        await #expect(throws: RenderFailure.callForbidden) { try await attempt(number) }
    }

    @Test("There are no more attempts than those")
    func lastAttempt() async throws {
        // The program exits with "usage".
        await #expect(throws: RenderFailure.notStarted) { try await attempt(23) }
    }

    private func attempt(_ number: Int) async throws -> RenderOutcome {
        let program = try #require(RenderProcess.programBesideThis)
        let renderer = RenderProcess(program: program, extraWords: ["--try", String(number)])
        return try await TestPicture.withFile(TestPicture.folder.appending(path: "rgb.png")) { file in
            try await renderer.render(file, longerSide: 32)
        }
    }

    @Test("It waits for its picture with nothing but what it needs")
    func state() async throws {
        try await WaitingPicture.with { picture in
            let rendering = try picture.rendering()
            let renderer = try await picture.renderer()
            #expect(WaitingPicture.status(of: renderer, "NoNewPrivs") == "1")
            let files = try ProcessTable.openFiles(of: renderer)
            #expect(files.keys.sorted() == [0, 1, 2, 3, 4])
            #expect([1, 2, 3].allSatisfy { files[$0] == "/dev/null" })
            #expect(files[4]?.hasPrefix("pipe:") == true)
            // What it was started with; libvips gets its own settings later.
            #expect(try Data(contentsOf: URL(filePath: "/proc/\(renderer)/environ")).isEmpty)
            #expect(try text(of: renderer, "oom_score_adj") == "1000")
            #expect(try text(of: renderer, "limits").contains(#/Max core file size +0 +0 /#))
            #expect(try text(of: renderer, "limits").contains(#/Max cpu time +60 +60 /#))
            #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(renderer)) >= 10)
            #expect(getsid(renderer) == renderer)
            rendering.cancel()
            _ = await rendering.result
        }
    }

    private func text(of processID: pid_t, _ name: String) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(processID)/\(name)"))
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("It crashes plainly, without a handler that would look into it", arguments: [SIGSEGV, SIGABRT, SIGILL])
    func crash(signal: Int32) async throws {
        try await WaitingPicture.with { picture in
            let rendering = try picture.rendering()
            kill(try await picture.renderer(), signal)
            await #expect(throws: RenderFailure.crashed(signal: signal)) { try await rendering.value }
        }
    }

    @Test("It loads no module of libvips but that for HEIF")
    func modules() async throws {
        try await WaitingPicture.with { picture in
            let rendering = try picture.rendering()
            let maps = try text(of: try await picture.renderer(), "maps")
            #expect(maps.contains("libheif"))
            for library in ["libMagick", "libpoppler", "libopenslide"] { #expect(!maps.contains(library)) }
            rendering.cancel()
            _ = await rendering.result
        }
    }

    @Test("It dies with the process that started it")
    func parent() async throws {
        try await WaitingPicture.with { picture in
            let (shell, words) = (Process(), Pipe())
            shell.executableURL = URL(filePath: "/bin/sh")
            // A shell's background command reads from /dev/null, unless it is told otherwise.
            shell.arguments = ["-c", #"exec 3<&0; "$0" 32 $$ <&3 >/dev/null & echo $!; wait"#, try program()]
            shell.standardInput = FileHandle(fileDescriptor: picture.readEnd)
            shell.standardOutput = words
            try shell.run()
            defer { kill(shell.processIdentifier, SIGKILL) }
            let line = try #require(String(data: words.fileHandleForReading.availableData, encoding: .utf8))
            let renderer = try #require(pid_t(line.trimmingCharacters(in: .newlines)))
            try await poll("the sandbox is closed") { WaitingPicture.status(of: renderer, "Seccomp") == "2" }
            kill(shell.processIdentifier, SIGKILL)
            try await poll("the renderer is gone") { [nil, "Z"].contains(ProcessTable.state(of: renderer)) }
        }
    }

    @Test("It does not begin when its parent is gone already")
    func wrongParent() async throws {
        let outcome = try await run(["32", "1"])
        #expect(outcome.status == 22)
        #expect(outcome.errors == "no sandbox\n")
        #expect(outcome.output.isEmpty)
    }

    @Test("It says the reason in words of its own")
    func reason() async throws {
        let outcome = try await run(["32"], input: "no picture")
        #expect(outcome.status == 12)
        #expect(outcome.errors == "unreadable\n")
        for words in [[], ["x"], ["0"], ["4097"], ["32", "0"], ["32", "1", "2"], ["32", "-1"], ["32", "x"]] {
            let outcome = try await run(words)
            #expect(outcome.status == 64)
            #expect(outcome.errors == "usage: selfie-render SIDE [PARENT] <picture >result\n")
        }
    }

    private func program() throws -> String { try #require(RenderProcess.programBesideThis) }

    private func run(_ words: [String], input: String = "") async throws -> ProgramOutcome {
        try await ProgramOutcome.run(
            URL(filePath: try program()),
            words,
            directory: URL(filePath: "/"),
            input: input
        )
    }
}
