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

    /// When a step fails: before it is done, or after that, when its answer is lost.
    private enum Moment {
        case before, after
        /// Before steps with even numbers, and after the others.
        case beforeEven
        /// Before steps with odd numbers, and after the others.
        case beforeOdd

        func isAfter(_ step: Int) -> Bool {
            switch self {
            case .before: false
            case .after: true
            case .beforeEven: !step.isMultiple(of: 2)
            case .beforeOdd: step.isMultiple(of: 2)
            }
        }
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
                let moments: [Moment] =
                    if reach == .process {
                        [.before]
                    } else if TestStore.allCases.allSatisfy(variant.work.usesOwnSteps) {
                        // What one store leaves out, the other one has.
                        [variant.store == .disk ? .beforeEven : .beforeOdd]
                    } else {
                        [.before, .after]
                    }
                for moment in moments {
                    try await stopEverywhere(variant, reach: reach, at: moment, scene)
                }
            }
            #expect(try await bystander.listed() == [photo])
        }
    }

    private func stopEverywhere(
        _ variant: Variant,
        reach: StepCounter.Reach,
        at moment: Moment,
        _ scene: CrashScene
    ) async throws {
        var step = 0
        while true {
            let isDone = moment.isAfter(step)
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
