import ServiceTestSupport
import Testing

@Suite("What the writers of a storm were told")
struct StormLedgerTests {
    private static func stored(_ versions: [String: Int], without gone: Set<String> = []) -> StormLedger.Stored {
        StormLedger.Stored(versions: versions, present: Set(versions.keys).subtracting(gone))
    }

    private static func ledger(wrote version: Int) -> StormLedger {
        let ledger = StormLedger()
        ledger.wrote("news/n1", version: version)
        return ledger
    }

    @Test("A record may be as it was answered, or newer")
    func kept() {
        #expect(Self.ledger(wrote: 2).contradictions(Self.stored(["news/n1": 2])).isEmpty)
        #expect(Self.ledger(wrote: 2).contradictions(Self.stored(["news/n1": 3])).isEmpty)
        // Somebody has deleted it since.
        #expect(Self.ledger(wrote: 2).contradictions(Self.stored(["news/n1": 3], without: ["news/n1"])).isEmpty)
    }

    @Test("A lost write is found by its version: the record is older, was never there, or is gone unchanged")
    func lost() {
        let ledger = Self.ledger(wrote: 2)
        #expect(ledger.contradictions(Self.stored(["news/n1": 1])) == ["news/n1 has lost version 2"])
        #expect(ledger.contradictions(Self.stored([:])) == ["news/n1 has lost version 2"])
        #expect(ledger.contradictions(Self.stored(["news/n1": 2], without: ["news/n1"])) == ["news/n1 is gone"])
    }

    @Test("Two writes with one version mean that one is lost")
    func repeated() {
        let ledger = Self.ledger(wrote: 2)
        ledger.wrote("news/n1", version: 2)
        #expect(ledger.contradictions(Self.stored(["news/n1": 2])) == ["news/n1 2 came twice"])
    }

    @Test("A deletion leaves a newer version")
    func deleted() {
        let ledger = Self.ledger(wrote: 2)
        ledger.deleted("news/n1", after: ledger.least("news/n1"))
        #expect(ledger.contradictions(Self.stored(["news/n1": 3], without: ["news/n1"])).isEmpty)
        #expect(ledger.contradictions(Self.stored(["news/n1": 2])) == ["news/n1 has lost version 3"])
    }

    @Test("A photo is there until somebody deletes it")
    func photos() {
        let ledger = StormLedger()
        ledger.uploaded("p1")
        #expect(ledger.contradictions(Self.stored(["photos/p1": 0])).isEmpty)
        #expect(ledger.contradictions(Self.stored([:])) == ["photos/p1 is lost"])
        ledger.deletes(photo: "p1")
        #expect(ledger.contradictions(Self.stored([:])).isEmpty)
    }
}
