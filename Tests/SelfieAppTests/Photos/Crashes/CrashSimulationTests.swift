import ConnectionTestSupport
import ServiceTestSupport
import Testing

@Suite("Processes, servers and requests that end at any step", .timeLimit(.minutes(5)))
struct CrashSimulationTests {
    struct Variant: Sendable, CustomTestStringConvertible {
        let work: CrashCase
        let store: TestStore

        var testDescription: String { "\(work), \(store)" }
    }

    private static let variants = TestStore.allCases.flatMap { store in
        CrashCase.allCases.filter { $0.usesOwnSteps(of: store) }.map { Variant(work: $0, store: store) }
    }

    @Test(
        "Whatever step is the last, rows and objects match after a sweep, and answers hold",
        arguments: variants
    )
    func everyStep(_ variant: Variant) async throws {
        try await CrashScene.with(variant.store) { scene in
            // Another's photo, which all of it must not touch, and which makes the bucket.
            let bystander = try await CrashAccount.make(scene)
            let photo = try await bystander.addPhoto()
            for reach in StepCounter.Reach.allCases {
                // A process that ends after a step leaves what one leaves that ends before the next.
                for isDone in reach == .process ? [false] : [false, true] {
                    try await stopEverywhere(variant, reach: reach, isDone: isDone, scene)
                }
            }
            #expect(try await bystander.listed() == [photo])
        }
    }

    private func stopEverywhere(
        _ variant: Variant,
        reach: StepCounter.Reach,
        isDone: Bool,
        _ scene: CrashScene
    ) async throws {
        var step = 0
        while true {
            let comment: Comment = "\(variant.testDescription), \(reach) at step \(step), done: \(isDone)"
            let run = try await variant.work.prepare(scene)
            let fault = StepCounter.Fault(step: step, isDone: isDone, reach: reach)
            let (isAnswered, hasFailed, count) = try await scene.process(fault, run.work)
            try await scene.sweepLater()
            try await run.expect(isAnswered, comment)
            try await scene.expectWhole(of: run.userID, comment)
            guard hasFailed else {
                #expect(isAnswered, "nothing went wrong, and it was not done")
                #expect(step >= variant.work.minStepCount(variant.store))
                #expect(count == step)
                return
            }
            step += 1
            try #require(step < 100, comment)
        }
    }
}
