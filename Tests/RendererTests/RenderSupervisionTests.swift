import Testing

@testable import Renderer

@Suite("Supervision of a renderer")
struct RenderSupervisionTests {
    private let start = ContinuousClock.now

    private func verdict(
        after time: Duration = .zero,
        memory: Int? = 50 << 20,
        output: Int = 0,
        isCancelled: Bool = false
    ) -> RenderFailure? {
        var supervision = RenderSupervision(budget: RenderBudget(), start: start)
        supervision.look(at: start + time, residentBytes: memory, outputBytes: output, isCancelled: isCancelled)
        return supervision.verdict
    }

    @Test("Ten seconds, 400 MiB and 8 MiB of output are the limits")
    func limits() {
        #expect(verdict(after: .milliseconds(9999)) == nil)
        #expect(verdict(after: .seconds(10)) == .timeExceeded)
        #expect(verdict(memory: 400 << 20) == nil)
        #expect(verdict(memory: (400 << 20) + 1) == .memoryExceeded)
        #expect(verdict(output: 8 << 20) == nil)
        #expect(verdict(output: (8 << 20) + 1) == .outputInvalid)
        #expect(verdict(isCancelled: true) == .cancelled)
        #expect(RenderBudget().intervalMilliseconds == 10)
    }

    @Test("What can't be watched must not run")
    func unwatched() {
        #expect(verdict(memory: nil) == .notStarted)
    }

    @Test("The first verdict stays, whatever comes later")
    func first() throws {
        var supervision = RenderSupervision(budget: RenderBudget(), start: start)
        supervision.look(at: start, residentBytes: 1 << 30, outputBytes: 0, isCancelled: false)
        supervision.look(at: start, residentBytes: 0, outputBytes: 0, isCancelled: true)
        #expect(throws: RenderFailure.memoryExceeded) { try supervision.hasResult(.exited(0)) }
    }

    @Test(
        "Each exit code means one thing",
        arguments: [
            (11, .tooManyPixels), (12, .unreadable), (13, .tooManyBytes), (14, .outputInvalid), (15, .notStarted),
            (20, .libraryMissing), (21, .formatMissing), (22, .notStarted), (64, .notStarted),
            (127, .libraryMissing), (1, .outputInvalid),
        ] as [(Int32, RenderFailure)]
    )
    func exits(code: Int32, failure: RenderFailure) throws {
        let supervision = RenderSupervision(budget: RenderBudget(), start: start)
        #expect(throws: failure) { try supervision.hasResult(.exited(code)) }
        #expect(try supervision.hasResult(.exited(0)))
        #expect(try !supervision.hasResult(.exited(10)))
        #expect(throws: RenderFailure.killed) { try supervision.hasResult(.unknown) }
    }

    @Test("Words for columns and metrics never change")
    func words() {
        let failures: [RenderFailure] = [
            .programMissing, .libraryMissing, .formatMissing, .notStarted, .tooManyPixels, .tooManyBytes, .unreadable,
            .timeExceeded, .memoryExceeded, .crashed(signal: 11), .callForbidden, .outputInvalid, .killed, .cancelled,
        ]
        let words = [
            "program_missing", "library_missing", "format_missing", "not_started", "too_many_pixels", "too_many_bytes",
            "unreadable", "time_exceeded", "memory_exceeded", "crashed", "call_forbidden", "output_invalid", "killed",
            "cancelled",
        ]
        #expect(failures.map(\.word) == words)
        #expect(Set(failures.map(\.description)).count == failures.count)
        #expect(failures.filter { !$0.isOfThePicture }.map(\.word) == words.prefix(4) + words.suffix(2))
    }
}
