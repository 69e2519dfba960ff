import Foundation
import ProcessTestSupport
import TestSupport
import Testing

@testable import Renderer

/// Shell scripts in the place of a renderer that a picture has taken over.
@Suite("Renderers that are subverted", .timeLimit(.minutes(3)))
struct SubvertedRendererTests {
    @Test("What is no JPEG or WebP of the size that was asked for is refused")
    func output() async throws {
        let folder = TestPicture.folder.path
        for script in [
            "true", "echo '<script>'", "cat \(folder)/rgb.png", "cat \(folder)/still.heic", "cat \(folder)/still.gif",
            // Another size: 96 pixels.
            "cat \(folder)/turned-1.jpg", "cat \(folder)/lossy.webp", "exit 14", "exit 1", "exit 255",
        ] {
            await #expect(throws: RenderFailure.outputInvalid, "\(script)") { try await render(script) }
        }
    }

    @Test("Only what is needed for the pixels is kept of a JPEG or WebP")
    func metadata() async throws {
        let folder = TestPicture.folder.path
        let jpeg = try await render("cat \(folder)/progressive.jpg; echo PLANTED", longerSide: 96).rendition
        #expect(jpeg?.bytes == Array(try TestPicture.bytes("progressive.jpg")))
        #expect(jpeg?.contentType == "image/jpeg")
        let webp = try await render("cat \(folder)/lossy.webp; echo PLANTED", longerSide: 96).rendition
        #expect(webp?.bytes == Array(try TestPicture.bytes("lossy.webp")))
        #expect(webp?.contentType == "image/webp")
        let clean = try #require(try await render("cat \(folder)/metadata.jpg", longerSide: 96).rendition)
        #expect((clean.width, clean.height) == (96, 64))
        #expect(!clean.bytes.contains(bytesOf: "PLANTED"))
        await #expect(throws: RenderFailure.outputInvalid) {
            try await render("head -c 500 \(folder)/progressive.jpg", longerSide: 96)
        }
    }

    @Test("At most 8 MiB are read")
    func endless() async throws {
        await #expect(throws: RenderFailure.outputInvalid) { try await render("exec cat /dev/zero") }
        // A JPEG that is complete, with bytes behind it.
        let long = "cat \(TestPicture.folder.path)/progressive.jpg; head -c 8388608 /dev/zero"
        await #expect(throws: RenderFailure.outputInvalid) { try await render(long, longerSide: 96) }
    }

    @Test("A renderer that closes its output and stays is killed")
    func lingering() async throws {
        await #expect(throws: RenderFailure.timeExceeded) { try await render("exec >&-; exec sleep 600") }
    }

    @Test("A crash is told with its signal")
    func crash() async throws {
        await #expect(throws: RenderFailure.crashed(signal: 11)) { try await render("kill -SEGV $$") }
        await #expect(throws: RenderFailure.crashed(signal: 6)) { try await render("kill -ABRT $$") }
        await #expect(throws: RenderFailure.callForbidden) { try await render("kill -SYS $$") }
        await #expect(throws: RenderFailure.timeExceeded) { try await render("kill -XCPU $$") }
        await #expect(throws: RenderFailure.killed) { try await render("kill -TERM $$") }
    }

    @Test("It gets two numbers, no environment, and no descriptor but three")
    func start() async throws {
        try await TemporaryFolder.with { folder in
            let seen = folder.appending(path: "seen").path
            let script = "echo $# >\(seen); ls /proc/self/fd >>\(seen); cat /proc/$$/environ >>\(seen); exit 10"
            #expect(try await render(script) == .smallEnough)
            let lines = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n")
            // The list has the folder open that it shows.
            #expect(lines == ["2", "0", "1", "2", "3"])
        }
    }

    private func render(_ script: String, longerSide: Int = 32) async throws -> RenderOutcome {
        try await TemporaryFolder.with { folder in
            let program = folder.appending(path: "selfie-render")
            // Another process writes it: a program can't be started while a process forked elsewhere has it open.
            _ = try await ProgramOutcome.run(
                URL(filePath: "/bin/sh"),
                ["-c", "cat >\(program.path); chmod 700 \(program.path)"],
                directory: folder,
                input: "#!/bin/sh\n\(script)\n"
            )
            var budget = RenderBudget()
            budget.time = .seconds(script.contains("sleep") ? 1 : 60)
            return try await TestPicture.withFile(program) { file in
                try await RenderProcess(program: program.path, budget: budget).render(file, longerSide: longerSide)
            }
        }
    }
}
