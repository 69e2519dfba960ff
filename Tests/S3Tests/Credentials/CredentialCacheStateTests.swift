import Foundation
import TestSupport
import Testing

@testable import S3

@Suite("The decisions about cached credentials")
struct CredentialCacheStateTests {
    private typealias Decision = CredentialCacheState.Decision
    private static let failure = S3CredentialError.failed(.instance, .silent)

    /// A state that has fetched credentials with an hour to live.
    private static func filled() throws -> (state: CredentialCacheState, credentials: S3Credentials) {
        let credentials = try S3Credentials.test("1", expiration: credentialEpoch.addingTimeInterval(3600))
        var state = CredentialCacheState(origin: .instance)
        #expect(Self.name(state.current(at: credentialEpoch)) == "fetch and wait")
        state.finishFetch(.success(credentials), at: credentialEpoch)
        return (state, credentials)
    }

    /// So long before the end of the credentials of ``filled()``.
    private static func beforeEnd(_ seconds: TimeInterval) -> Date {
        credentialEpoch.addingTimeInterval(3600 - seconds)
    }

    private static func name(_ decision: CredentialCacheState.Decision) -> String {
        switch decision {
        case .use: "use"
        case .useAndFetch: "use and fetch"
        case .wait: "wait"
        case .fetchAndWait: "fetch and wait"
        case .fail(let error): "fail: \(error)"
        }
    }

    @Test(
        "Nothing is fetched until five minutes before the end; no caller waits until half a minute before it",
        arguments: [
            (3600, "use", "use"), (301, "use", "use"), (300, "use and fetch", "use"), (30, "use and fetch", "use"),
            (29, "fetch and wait", "wait"), (0, "fetch and wait", "wait"), (-60, "fetch and wait", "wait"),
        ] as [(TimeInterval, String, String)]
    )
    func lifetime(secondsLeft: TimeInterval, first: String, second: String) throws {
        var (state, _) = try Self.filled()
        // Past the pause after the fetch that filled it.
        let now = secondsLeft == 3600 ? credentialEpoch : Self.beforeEnd(secondsLeft)
        #expect(Self.name(state.current(at: now)) == first)
        #expect(Self.name(state.current(at: now)) == second)
    }

    @Test("Credentials without an end stay")
    func endless() throws {
        var state = CredentialCacheState(origin: .container)
        _ = state.current(at: credentialEpoch)
        state.finishFetch(.success(try .test("1")), at: credentialEpoch)
        #expect(Self.name(state.current(at: .distantFuture)) == "use")
    }

    @Test("After a failed fetch the old ones are used while they live, and the next one begins after the pause")
    func failedRefresh() throws {
        var (state, _) = try Self.filled()
        let now = Self.beforeEnd(40)
        #expect(Self.name(state.current(at: now)) == "use and fetch")
        state.finishFetch(.failure(Self.failure), at: now)
        #expect(Self.name(state.current(at: now)) == "use")
        #expect(Self.name(state.current(at: Self.beforeEnd(31))) == "use")
        #expect(Self.name(state.current(at: Self.beforeEnd(30))) == "use and fetch")
        // Those who wait get the old ones too when the fetch fails.
        state.finishFetch(.failure(Self.failure), at: Self.beforeEnd(20))
        #expect(throws: Never.self) { try state.outcome(at: Self.beforeEnd(20)).get() }
        #expect(Self.name(state.current(at: Self.beforeEnd(11))) == "use")
        #expect(Self.name(state.current(at: Self.beforeEnd(10))) == "fetch and wait")
        state.finishFetch(.failure(Self.failure), at: Self.beforeEnd(1))
        #expect(Self.name(state.current(at: Self.beforeEnd(0))) == "fail: \(Self.failure)")
        #expect(throws: Self.failure) { try state.outcome(at: Self.beforeEnd(0)).get() }
        #expect(Self.name(state.current(at: Self.beforeEnd(-9))) == "fetch and wait")
    }

    @Test("All callers get a failed first fetch until the pause is over, even when the clock was set back")
    func failedFirst() {
        var state = CredentialCacheState(origin: .instance)
        _ = state.current(at: credentialEpoch)
        #expect(Self.name(state.current(at: credentialEpoch)) == "wait")
        state.finishFetch(.failure(Self.failure), at: credentialEpoch)
        var other = state
        #expect(Self.name(state.current(at: credentialEpoch.addingTimeInterval(9.9))) == "fail: \(Self.failure)")
        #expect(Self.name(state.current(at: credentialEpoch.addingTimeInterval(10))) == "fetch and wait")
        #expect(Self.name(other.current(at: credentialEpoch.addingTimeInterval(-3600))) == "fetch and wait")
    }

    @Test("New credentials that seem to have ended are used, and fetched anew only after the pause")
    func skewedClock() throws {
        var (state, credentials) = try Self.filled()
        let now = Self.beforeEnd(-60)
        #expect(Self.name(state.current(at: now)) == "fetch and wait")
        state.finishFetch(.success(credentials), at: now)
        #expect(state.outcome(at: now) == .success(credentials))
        #expect(Self.name(state.current(at: Self.beforeEnd(-69))) == "use")
        #expect(Self.name(state.current(at: Self.beforeEnd(-70))) == "fetch and wait")
    }

    @Test("Rejected credentials are replaced by one fetch, for which everybody waits")
    func replacement() throws {
        var (state, old) = try Self.filled()
        let now = Self.beforeEnd(1800)
        #expect(Self.name(state.replacement(for: old, at: now)) == "fetch and wait")
        #expect(Self.name(state.replacement(for: old, at: now)) == "wait")
        #expect(Self.name(state.current(at: now)) == "wait")
        let new = try S3Credentials.test("2", expiration: credentialEpoch.addingTimeInterval(7200))
        state.finishFetch(.success(new), at: now)
        #expect(state.outcome(for: old, at: now) == .success(new))
        // A late caller gets what there is.
        guard case .use(let late) = state.replacement(for: old, at: now) else {
            Issue.record("not used")
            return
        }
        #expect(late == new)
    }

    @Test("If a source has no other credentials, callers with rejected ones get an error; others keep using them")
    func sameAgain() throws {
        var (state, old) = try Self.filled()
        let now = Self.beforeEnd(1800)
        #expect(Self.name(state.replacement(for: old, at: now)) == "fetch and wait")
        state.finishFetch(.success(old), at: now)
        #expect(state.outcome(for: old, at: now) == .failure(.notReplaced(.instance)))
        #expect(state.outcome(at: now) == .success(old))
        #expect(Self.name(state.replacement(for: old, at: now)) == "fail: \(S3CredentialError.notReplaced(.instance))")
        #expect(Self.name(state.current(at: now)) == "use")
        let later = now.addingTimeInterval(10)
        #expect(Self.name(state.replacement(for: old, at: later)) == "fetch and wait")
    }

    @Test("Rejected credentials are not used again when their replacement can't be fetched")
    func failedReplacement() throws {
        var (state, old) = try Self.filled()
        let now = Self.beforeEnd(1800)
        _ = state.replacement(for: old, at: now)
        state.finishFetch(.failure(Self.failure), at: now)
        #expect(state.outcome(for: old, at: now) == .failure(Self.failure))
        #expect(state.outcome(at: now) == .failure(Self.failure))
        #expect(Self.name(state.current(at: now)) == "fail: \(Self.failure)")
        #expect(Self.name(state.replacement(for: old, at: now)) == "fail: \(Self.failure)")
        #expect(Self.name(state.current(at: now.addingTimeInterval(10))) == "fetch and wait")
    }

    @Test(
        "In any order of events: one fetch at a time, none in a pause, and no caller waits without one",
        arguments: 1...50
    )
    func randomWalk(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var state = CredentialCacheState(origin: .instance)
        var (now, lastEnd) = (credentialEpoch, Date.distantPast)
        var (isFetching, lastFetchFailed, count) = (false, false, 0)
        var seen: [S3Credentials] = []
        for _ in 0..<400 {
            now += Double(Int.random(in: 0...40, using: &random))
            if isFetching, Bool.random(using: &random) {
                count += 1
                let life = Double([20, 60, 400, 3600].randomElement(using: &random) ?? 0)
                let credentials = try S3Credentials.test("\(count)", expiration: now + life)
                lastFetchFailed = Bool.random(using: &random)
                state.finishFetch(lastFetchFailed ? .failure(Self.failure) : .success(credentials), at: now)
                if !lastFetchFailed { seen.append(credentials) }
                (isFetching, lastEnd) = (false, now)
                continue
            }
            let isRejection = Int.random(in: 0..<8, using: &random) == 0
            let rejected = isRejection ? seen.suffix(3).randomElement(using: &random) : nil
            let decision = rejected.map { state.replacement(for: $0, at: now) } ?? state.current(at: now)
            switch decision {
            case .useAndFetch(let credentials), .use(let credentials):
                #expect(credentials == seen.last)
                #expect(credentials != rejected)
                #expect((credentials.expiration ?? now) > now || !lastFetchFailed)
            case .fetchAndWait: break
            case .wait: #expect(isFetching)
            case .fail: #expect(!isFetching && now.timeIntervalSince(lastEnd) < 10)
            }
            switch decision {
            case .useAndFetch, .fetchAndWait:
                #expect(!isFetching && now.timeIntervalSince(lastEnd) >= 10)
                isFetching = true
            case .use, .wait, .fail: break
            }
            #expect(state.isFetching == isFetching)
        }
        #expect(count > 0)
    }
}
