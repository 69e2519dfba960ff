import Logging
import Synchronization
import TestSupport
import Testing

@testable import SelfieWeb

@Suite("Readiness", .timeLimit(.minutes(1)))
struct ReadinessTests {
    private struct Failure: Error, CustomStringConvertible {
        let description = "trouble"
    }

    private final class Scene: Sendable {
        let looks = Atomic(0)
        let isFailing = Atomic(false)
        let clock = ManualTime()
        let log = TestLog()

        func readiness(hangs: Bool = false) -> Readiness {
            let check = Readiness.Check("thing") { [self] in
                looks.add(1, ordering: .relaxed)
                if hangs { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
                if isFailing.load(ordering: .relaxed) { throw Failure() }
            }
            return Readiness(
                [check, Readiness.Check("other") {}],
                logger: log.logger(level: .info),
                clock: clock
            )
        }

        func pass(_ duration: Duration) { clock.advance(by: duration) }
    }

    @Test("A result is used for a second, for all requests")
    func kept() async {
        let scene = Scene()
        let readiness = scene.readiness()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = await readiness.findings() } }
        }
        #expect(scene.looks.load(ordering: .relaxed) == 1)
        scene.isFailing.store(true, ordering: .relaxed)
        scene.pass(.milliseconds(999))
        #expect(await readiness.findings().allSatisfy(\.isReady))
        scene.pass(.milliseconds(1))
        #expect(await readiness.findings().map(\.isReady) == [false, true])
        #expect(scene.looks.load(ordering: .relaxed) == 2)
    }

    @Test("The log has each change once, with the cause")
    func log() async {
        let scene = Scene()
        let readiness = scene.readiness()
        for isFailing in [false, true, true, false, false] {
            scene.isFailing.store(isFailing, ordering: .relaxed)
            _ = await readiness.findings()
            scene.pass(.seconds(1))
        }
        #expect(
            scene.log.entries == ["warning not ready checks=thing error=trouble", "notice ready again checks=thing"]
        )
    }

    @Test("A look that never ends is not ready, and is not begun again")
    func hanging() async {
        let scene = Scene()
        let readiness = scene.readiness(hangs: true)
        for _ in 0..<3 {
            #expect(await readiness.findings().map(\.isReady) == [false, true])
            scene.pass(.seconds(1))
        }
        #expect(scene.looks.load(ordering: .relaxed) == 1)
        #expect(scene.log.entries == ["warning not ready checks=thing error=it did not answer in time"])
    }
}
