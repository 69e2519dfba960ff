import Foundation
import Testing

@Suite("What the soak of a cluster looks at")
struct ClusterReportTests {
    private static let start = Date(timeIntervalSince1970: 1_000_000)

    private static func failure(
        _ kind: ClusterCalls.Failure.Kind,
        from begin: TimeInterval,
        to end: TimeInterval
    ) -> ClusterCalls.Failure {
        ClusterCalls.Failure(call: "photo", kind: kind, start: start + begin, end: start + end)
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

    private static let whole = """
        Database:
          db1 replica running timeline=2 lag=0
          db2 leader running timeline=2 lag=0
          db3 sync_standby streaming timeline=2 lag=0
        Hosts:
          db1     network up, etcd runs, patroni runs
        The service:
          app1    [{"check":"database","ready":true}]
        Store:
          HEALTH_OK
        """

    @Test("A cluster is whole when nothing is missing")
    func wholeness() {
        #expect(ClusterLosses.isWhole(Self.whole))
        for (text, other) in [
            ("patroni runs", "patroni DOES NOT RUN"), ("leader running", "replica running"),
            ("sync_standby", "replica"), ("db1 replica running", "db1 replica starting"),
            (#""ready":true"#, #""ready":false"#), (#"[{"check":"database","ready":true}]"#, "no answer"),
            ("HEALTH_OK", "HEALTH_WARN 1 osds down"), ("HEALTH_OK", "no monitor answers"),
            ("HEALTH_OK", "HEALTH_WARN Degraded data redundancy: 3 pgs degraded"),
        ] {
            #expect(!ClusterLosses.isWhole(Self.whole.replacing(text, with: other)), "\(other)")
        }
    }
}
