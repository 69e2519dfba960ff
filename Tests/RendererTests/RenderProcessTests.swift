import Foundation
import Glibc
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import Renderer

@Suite("Processes that render", .timeLimit(.minutes(3)))
struct RenderProcessTests {
    @Test("A renderer that takes too long is killed")
    func time() async throws {
        try await WaitingPicture.with { picture in
            let renderer = try TestPicture.renderer { $0.time = .milliseconds(500) }
            await #expect(throws: RenderFailure.timeExceeded) {
                try await renderer.render(picture.readEnd, longerSide: 32)
            }
            try await expectNoRenderer(of: picture)
        }
    }

    @Test("A renderer that takes too much memory is killed")
    func memory() async throws {
        try await WaitingPicture.with { picture in
            // Its libraries alone take more.
            let renderer = try TestPicture.renderer { $0.memoryBytes = 10 << 20 }
            await #expect(throws: RenderFailure.memoryExceeded) {
                try await renderer.render(picture.readEnd, longerSide: 32)
            }
            try await expectNoRenderer(of: picture)
        }
    }

    @Test("A task that is cancelled kills its renderer")
    func cancellation() async throws {
        try await WaitingPicture.with { picture in
            let rendering = try picture.rendering()
            _ = try await picture.renderer()
            rendering.cancel()
            await #expect(throws: RenderFailure.cancelled) { try await rendering.value }
            try await expectNoRenderer(of: picture)
        }
    }

    @Test("A task that is cancelled before starts no renderer")
    func earlyCancellation() async throws {
        let rendering = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            // A program that is missing would be another failure.
            return try await RenderProcess(program: "/nonexistent").render(0, longerSide: 32)
        }
        await #expect(throws: RenderFailure.cancelled) { try await rendering.value }
    }

    @Test("A renderer that something else kills is no fault of the picture")
    func killed() async throws {
        try await WaitingPicture.with { picture in
            let rendering = try picture.rendering()
            kill(try await picture.renderer(), SIGKILL)
            await #expect(throws: RenderFailure.killed) { try await rendering.value }
            #expect(!RenderFailure.killed.isOfThePicture)
        }
    }

    private func expectNoRenderer(of picture: WaitingPicture) async throws {
        #expect(try picture.waitingRenderer() == nil)
    }

    @Test("A program that is missing, or can't be executed, is a failure of its own")
    func missingProgram() async throws {
        for program in ["/nonexistent/selfie-render", "/etc/passwd", "/etc"] {
            await #expect(throws: RenderFailure.programMissing) {
                try await RenderProcess(program: program).render(0, longerSide: 32)
            }
        }
    }

    @Test("A check says whether rendering works here")
    func check() async throws {
        try await TestPicture.renderer().check()
        await #expect(throws: RenderFailure.programMissing) {
            try await RenderProcess(program: "/nonexistent/selfie-render").check()
        }
        await #expect(throws: RenderFailure.outputInvalid) { try await RenderProcess(program: "/bin/true").check() }
    }

    @Test("The program is in the folder of the program that runs")
    func location() throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = URL(filePath: own).deletingLastPathComponent()
        #expect(RenderProcess.programBesideThis == folder.appending(path: "selfie-render").path)
    }

    @Test("Renderers that are killed at random leave no descriptor and no process", .onDedicatedThreads)
    func storm() async throws {
        // Other tests of this process open descriptors, too.
        await #expect(processExitsWith: .success) {
            do { try await Self.stormOfKills() } catch { Issue.record(error) }
        }
    }

    private static func stormOfKills() async throws {
        _ = try await TestPicture.render("rgb.png")
        let before = try await lastingFiles()
        let killer = Task { try await killHalf() }
        var outcomes: [Bool] = []
        for _ in 0..<8 {
            outcomes += try await withThrowingTaskGroup(of: Bool.self) { group in
                for name in ["rgb.png", "still.heic", "turned-6.jpg", "half.png"] {
                    group.addTask {
                        do {
                            return try await TestPicture.render(name).rendition != nil
                        } catch RenderFailure.killed {
                            return false
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        killer.cancel()
        // It opens files, too.
        _ = await killer.result
        #expect(outcomes.contains(true) && outcomes.contains(false))
        // The thread of a renderer may end a little later than its result is there.
        try await poll("no process is left") { try ProcessTable.children(of: getpid()).isEmpty }
        do {
            try await poll("no descriptor is left") { try openFiles() == before }
        } catch is NotInTime {
            let now = try openFiles()
            Issue.record("before \(before), afterwards \(now)")
        }
    }

    /// The open descriptors but those of the system's own, such as timers of the thread pool.
    ///
    /// Another test may delete a file whose descriptor this process has got from it.
    private static func openFiles() throws -> [String] {
        try ProcessTable.openFiles().filter { !$0.hasPrefix("anon_inode:") }
            .map { $0.replacing(" (deleted)", with: "") }.sorted()
    }

    /// The open descriptors but those that are closed within a moment, such as a file of `/sys` that the C library asks for
    /// the number of cores.
    private static func lastingFiles() async throws -> [String] {
        let first = Set(try openFiles())
        try await Task.sleep(for: .milliseconds(100))
        return try openFiles().filter(first.contains)
    }

    /// Kills every second renderer at some time of its life, until the task is cancelled.
    private static func killHalf() async throws {
        var random = SplitMix64(seed: 48)
        var condemned: [pid_t: Int] = [:]
        while !Task.isCancelled {
            for renderer in try ProcessTable.children(of: getpid()) {
                let chance = Int.random(in: -8...8, using: &random)
                let rounds = condemned[renderer] ?? chance
                if rounds == 0 { kill(renderer, SIGKILL) }
                condemned[renderer] = rounds - 1
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("Pictures that are made to do harm take no memory of this process", .onDedicatedThreads)
    func ownMemory() async throws {
        await #expect(processExitsWith: .success) {
            _ = try await TestPicture.render("rgb.png")
            let pictures = [
                try HostilePicture.jpeg("full-progressive.jpg", width: 10000, height: 10000),
                HostilePicture.png(width: 9000, height: 9000), HostilePicture.gif(frames: 20_000),
            ]
            try await TemporaryFolder.with { folder in
                let growth = try await ProcessMemory.growth(of: getpid()) {
                    for picture in pictures {
                        try picture.write(to: folder.appending(path: "picture"))
                        try await TestPicture.withFile(folder.appending(path: "picture")) { file in
                            _ = try? await TestPicture.renderer().render(file, longerSide: 320)
                        }
                    }
                }
                #expect(growth < 8)
            }
        }
    }
}
