import Foundation
import Testing

@Suite("What the soak of a cluster expects of its hosts")
struct ClusterStatusTests {
    private static let whole = """
        Database:
          db1 replica running timeline=2 lag=0
          db2 leader running timeline=2 lag=0
          db3 sync_standby streaming timeline=2 lag=0
        Hosts:
          db1     network up, etcd runs, patroni runs
          app3    network up, haproxy runs, selfie runs
        The service:
          app1    [{"check":"database","ready":true}]
        Store:
          HEALTH_OK
        """

    @Test("A cluster is whole when nothing is missing")
    func wholeness() {
        #expect(ClusterStatus(text: Self.whole).isWhole)
        for (text, other) in [
            ("patroni runs", "patroni DOES NOT RUN"), ("leader running", "replica running"),
            ("sync_standby", "replica"), ("db1 replica running", "db1 replica starting"),
            (#""ready":true"#, #""ready":false"#), (#"[{"check":"database","ready":true}]"#, "no answer"),
            ("HEALTH_OK", "HEALTH_WARN 1 osds down"), ("HEALTH_OK", "no monitor answers"),
            ("HEALTH_OK", "HEALTH_WARN Degraded data redundancy: 3 pgs degraded"),
        ] {
            #expect(!ClusterStatus(text: Self.whole.replacing(text, with: other)).isWhole, "\(other)")
        }
    }

    /// What `bin/cluster lose` prints.
    private static func lost(_ what: String) -> LostPart? {
        LostPart("Lost: \(what). To undo it: bin/cluster restore \(what.split(separator: " ").last ?? "")")
    }

    @Test("What was lost is read from the command's output, which says otherwise when there was nothing to lose")
    func outputs() {
        #expect(Self.lost("app3")?.part == nil)
        #expect(Self.lost("app3")?.host == "app3")
        #expect(Self.lost("etcd of db2")?.part == "etcd")
        #expect(Self.lost("etcd of db2")?.host == "db2")
        #expect(LostPart("There is no host primary at present. The hosts are: db1 db2 db3") == nil)
        #expect(LostPart("etcd has no leader at present") == nil)
    }

    @Test("Nothing may have ended but what was lost")
    func deaths() {
        let status = ClusterStatus(text: Self.whole.replacing("selfie runs", with: "selfie DOES NOT RUN"))
        #expect(ClusterStatus(text: Self.whole).problems(without: nil).isEmpty)
        for what in ["app3", "power of app3", "selfie of app3"] {
            #expect(status.problems(without: Self.lost(what)).isEmpty, "\(what)")
        }
        #expect(status.problems(without: nil) == ["selfie of app3 has ended by itself"])
        // Another process of the host, a host that was only cut off, and another host.
        for what in ["haproxy of app3", "packets of app3", "network of app3", "app1", "selfie of app1"] {
            let problem = "selfie of app3 has ended by itself, while \(what) was lost"
            #expect(status.problems(without: Self.lost(what)) == [problem])
        }
        // Patroni starts PostgreSQL again, and does not end with it.
        let patroni = ClusterStatus(text: Self.whole.replacing("patroni runs", with: "patroni DOES NOT RUN"))
        #expect(patroni.problems(without: Self.lost("postgres of db1")).count == 1)
    }

    @Test("A status that could not be read tells nothing")
    func noStatus() {
        #expect(ClusterStatus(text: "No cluster runs.").problems(without: Self.lost("app3")).count == 1)
    }

    private static func losses(_ what: [String]) -> [ClusterLosses.Loss] {
        what.map { ClusterLosses.Loss(what: $0, time: Date(timeIntervalSince1970: 0)) }
    }

    @Test("An hour has each kind of loss, and a shorter run one of any kind")
    func kinds() {
        let all = ClusterLosses.all
        #expect(all.count == 20)
        #expect(ClusterLosses.missing(Self.losses(all + all), in: .seconds(3600)).isEmpty)
        #expect(ClusterLosses.missing(Self.losses(all.filter { $0 != "edge1" }), in: .seconds(3600)) == ["edge1"])
        #expect(ClusterLosses.missing(Self.losses(["edge1"]), in: .seconds(3599)).isEmpty)
        #expect(ClusterLosses.missing([], in: .seconds(3599)) == ["anything"])
    }

    @Test("The host that commits may change once for each loss of a primary")
    func primaries() {
        let writes = ["db1", "db1", "db2", "db2", "db1"].enumerated().map {
            ClusterWitness.Write(host: $0.element, number: $0.offset)
        }
        #expect(ClusterWitness.changes(writes) == 2)
        #expect(ClusterWitness.maxChanges(Self.losses(ClusterLosses.all)) == 6)
        #expect(ClusterWitness.maxChanges(Self.losses(["standby", "etcd leader", "app1"])) == 0)
    }
}
