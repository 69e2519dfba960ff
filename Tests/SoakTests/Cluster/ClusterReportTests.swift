import Foundation
import Testing

@Suite("What the soak of a cluster expects of calls after a loss")
struct ClusterReportTests {
    private static let start = Date(timeIntervalSince1970: 1_000_000)

    private static func failure(
        _ kind: ClusterCalls.Failure.Kind,
        from begin: TimeInterval,
        to end: TimeInterval
    ) -> ClusterCalls.Failure {
        ClusterCalls.Failure(call: "photo", kind: kind, start: start + begin, end: start + end)
    }

    /// A report of what followed one loss, which was repaired after 40 seconds.
    private static func report(_ what: String, _ failures: ClusterCalls.Failure...) -> ClusterReport {
        ClusterReport(failures, [ClusterLosses.Loss(what: what, time: start, end: start + 40)])
    }

    @Test("A failure counts for the last loss before its end, and one before all losses for none")
    func attribution() {
        let losses = [("edge1", 60.0), ("primary", 120.0)].map {
            ClusterLosses.Loss(what: $0.0, time: Self.start + $0.1)
        }
        let report = ClusterReport(
            [
                Self.failure(.unavailable, from: 30, to: 31), Self.failure(.cut, from: 59, to: 61),
                Self.failure(.unavailable, from: 75, to: 79), Self.failure(.wrong(500), from: 119, to: 119.5),
                Self.failure(.busy, from: 125, to: 126),
            ],
            losses
        )
        #expect(report.early.count == 1)
        #expect(report.lines[0].counts == [.cut: 1, .unavailable: 1, .wrong(500): 1])
        #expect(report.lines[0].lastBegin == 59)
        #expect(report.lines[0].lastEnd == 59.5)
        #expect(report.lines[1].counts == [.busy: 1])
        #expect(report.lines[1].lastBegin == 5)
        #expect(report.text.contains("primary"))
    }

    @Test("Calls may fail with 503 and Retry-After for 15 seconds, and 5 more until the last one is answered")
    func time() {
        #expect(Self.report("primary", Self.failure(.unavailable, from: 15, to: 20)).problems.isEmpty)
        #expect(
            Self.report("primary", Self.failure(.unavailable, from: 15.1, to: 16)).problems
                == ["primary: a call that failed began after 15.1 s"]
        )
        // One that waited for an answer until long after that.
        #expect(
            Self.report("primary", Self.failure(.unavailable, from: 14.9, to: 20.1)).problems
                == ["primary: a call that failed ended after 20.1 s"]
        )
    }

    @Test("An upload whose first try was interrupted may be under way until its key is given up")
    func underWay() {
        #expect(Self.report("app1", Self.failure(.underWay, from: 59, to: 60)).problems.isEmpty)
        #expect(
            Self.report("app1", Self.failure(.underWay, from: 59, to: 60.1)).problems
                == ["app1: an upload was under way after 60.1 s"]
        )
    }

    @Test("Any other failure is a defect, and so is one without a loss", arguments: ["primary", "app1", "edge1"])
    func kinds(what: String) {
        for kind: ClusterCalls.Failure.Kind in [.busy, .wrong(500), .wrong(503), .wrong(429)] {
            #expect(Self.report(what, Self.failure(kind, from: 1, to: 2)).problems == ["\(what): \(kind), 1 times"])
        }
        #expect(Self.report(what, Self.failure(.unavailable, from: -2, to: -1)).problems.count == 1)
        #expect(Self.report(what, Self.failure(.cut, from: -2, to: -1)).rerouteProblems.count == 1)
    }

    @Test("Only the loss of a proxy or a process cuts clients off")
    func cuts() {
        for what in ClusterLosses.all {
            let report = Self.report(what, Self.failure(.cut, from: 1, to: 2))
            let isExpected = ["edge1", "haproxy of edge2", "app1", "selfie of app3", "power of app4"].contains(what)
            #expect(report.problems.isEmpty == isExpected, "\(what)")
            #expect(report.rerouteProblems.isEmpty == isExpected, "\(what)")
            // An export may break off with the database, and with the store.
            let export = Self.report(what, Self.failure(.brokenOff, from: 1, to: 2))
            #expect(export.problems.isEmpty && export.rerouteProblems.isEmpty, "\(what)")
        }
    }

    @Test("A lost proxy may be gone until it is back, and a lost process cuts clients off at once")
    func reroutes() {
        #expect(Self.report("edge1", Self.failure(.cut, from: 40, to: 41)).rerouteProblems.isEmpty)
        #expect(Self.report("edge1", Self.failure(.cut, from: 41, to: 42)).rerouteProblems.count == 1)
        #expect(Self.report("app1", Self.failure(.cut, from: 15, to: 20)).rerouteProblems.isEmpty)
        #expect(Self.report("app1", Self.failure(.cut, from: 16, to: 17)).rerouteProblems.count == 1)
    }
}
