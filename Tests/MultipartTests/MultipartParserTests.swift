import Multipart
import Testing

@Suite("Bodies, however they are cut", .timeLimit(.minutes(1)))
struct MultipartParserTests {
    static let all = Fixture.valid + Fixture.invalid

    @Test("gives the expected parts and error", arguments: all)
    func whole(_ fixture: Fixture) throws {
        let outcome = try fixture.outcome()
        #expect(outcome.parts == fixture.parts)
        #expect(outcome.error == fixture.error)
    }

    @Test("gives the same byte by byte, with empty chunks in between", arguments: all)
    func byteByByte(_ fixture: Fixture) throws {
        let whole = try fixture.outcome()
        #expect(try fixture.outcome(cuts: fixture.bytes.indices) == whole)
        #expect(try fixture.outcome(cuts: fixture.bytes.indices.flatMap { [$0, $0] }) == whole)
    }

    @Test("gives the same when cut once, at any offset", arguments: all)
    func everyCut(_ fixture: Fixture) throws {
        let whole = try fixture.outcome()
        for cut in 0...fixture.bytes.count {
            let outcome = try fixture.outcome(cuts: [cut])
            #expect(outcome == whole, "cut at \(cut)")
        }
    }

    @Test(
        "gives the same when cut twice, at any two offsets, so that a boundary takes three reads",
        arguments: all.filter { $0.bytes.count < 130 || $0.name == Fixture.nearBoundaries.name }
    )
    func everyPairOfCuts(_ fixture: Fixture) async throws {
        let whole = try fixture.outcome()
        for first in 0...fixture.bytes.count {
            // So that tests that watch the clock get their turn on a machine of few cores.
            await Task.yield()
            for second in first...fixture.bytes.count {
                let outcome = try fixture.outcome(cuts: [first, second])
                if outcome != whole { Issue.record("cut at \(first) and \(second): \(outcome)") }
            }
        }
    }

    @Test("never succeeds when it ends early, and gives nothing that the whole does not", arguments: Fixture.valid)
    func truncated(_ fixture: Fixture) throws {
        for count in 0..<fixture.body.count {
            let outcome = try fixture.outcome(of: Array(fixture.body.prefix(count)))
            #expect(outcome.error == .unexpectedEnd, "ended after \(count)")
            #expect(outcome.parts.count <= fixture.parts.count)
            for (part, whole) in zip(outcome.parts, fixture.parts) {
                #expect(part.part == whole.part && whole.bytes.starts(with: part.bytes), "ended after \(count)")
                #expect(!part.isComplete || part == whole, "ended after \(count)")
            }
        }
    }

    @Test("succeeds however much of the epilogue comes", arguments: Fixture.valid)
    func truncatedEpilogue(_ fixture: Fixture) throws {
        for count in 0...fixture.epilogue.count {
            let outcome = try fixture.outcome(of: fixture.body + fixture.epilogue.prefix(count))
            #expect(outcome == Outcome(parts: fixture.parts), "\(count) bytes of epilogue")
        }
    }
}

extension Outcome {
    fileprivate init(parts: [Part]) {
        self.parts = parts
    }
}
