import ConnectionTestSupport
import DatabaseTestSupport
import S3
import S3TestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

/// One request at a time suffers one fault, and the client's time moves on only when that has it wait in vain.
@Suite("Each fault of a store, once to each kind of request", .timeLimit(.minutes(5)))
struct EachFaultTests {
    @Test("Each success is true, each failure says that the store is not available, and rows and objects match")
    func each() async throws {
        let time = ManualTime()
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                try await ServedSelfie.withObjects(.s3) { objects in
                    guard case .s3(let server, _) = objects else { throw NotInTime(what: "a bucket") }
                    try await FaultyProxy.with(server, seed: 1, hold: Self.hold(by: time)) { proxy in
                        let scene = CrashScene(
                            steps: StepCounter(),
                            postgres: postgres,
                            objects: objects,
                            databaseURL: url,
                            endpoint: proxy.endpoint
                        )
                        try await Self.suffer(scene, proxy, time)
                    }
                }
            }
        }
    }

    /// Has the client wait in vain for what is held.
    private static func hold(by time: ManualTime) -> FaultHold {
        .untilClientLeaves { request in
            switch (request.method, request.fault) {
            // The bytes that stop are watched in real time.
            case ("GET", .stallInAnswer): break
            // The silence of a store that was asked for something, and got all of the request.
            case ("GET", _), ("DELETE", _): time.move(to: time.elapsed + .seconds(4))
            case ("HEAD", let fault) where fault != .stallInAnswer: time.move(to: time.elapsed + .seconds(4))
            // What is still a sign of life to come, of a body or an answer, is none after the end of the whole call.
            default: time.move(to: time.elapsed + .seconds(60))
            }
        }
    }

    private static func suffer(
        _ scene: CrashScene,
        _ proxy: FaultyProxy,
        _ time: ManualTime
    ) async throws {
        let account = try await CrashAccount.make(scene)
        // One for everything, and one for a transfer that stops in its middle.
        var (patient, impatient) = (S3Deadlines(), S3Deadlines())
        patient.connect = S3Deadlines.patient.connect
        impatient.silence = .milliseconds(20)
        let clients = try [patient, impatient].map { deadlines in
            let store = try scene.store(isCounted: true, deadlines: deadlines, clock: time)
            return FaultClient(account: account, store: store)
        }
        // It makes the bucket.
        let read = try await account.addPhoto()
        var kept: Set = [read]
        for kind in FaultKind.allCases {
            var (successes, failures) = (0, 0)
            for fault in kind.faults {
                let isTransfer = kind == .get && fault == .stallInAnswer
                let before = proxy.records.count
                proxy.arm(fault, for: kind.rawValue)
                let outcome = try await clients[isTransfer ? 1 : 0].run(kind, read: read)
                try await poll("\(fault) of \(kind) is over") { proxy.faultsUnderWay == 0 }
                let suffered = proxy.records[before...].filter { $0.fault != nil }
                #expect(suffered.map(\.kind) == [kind.rawValue], "\(fault) of \(kind)")
                #expect(suffered.first?.fault == fault, "\(fault) of \(kind)")
                if outcome.isSuccess { successes += 1 } else { failures += 1 }
                if let id = outcome.uploaded { kept.insert(id) }
            }
            let least = kind.outcomes
            #expect(successes >= least.successes && failures >= least.failures, "\(kind): \(successes), \(failures)")
        }
        try await scene.sweepLater()
        try await scene.expectWhole(of: account.userID, "in the end")
        let listed = try await account.listed()
        #expect(Set(listed) == kept)
    }
}
