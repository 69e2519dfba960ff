import Testing

@testable import Postgres

@Suite("What a session keeps prepared")
struct PreparedStatementTests {
    private func query(_ number: Int) -> PostgresQuery { PostgresQuery(stringLiteral: "SELECT \(number)") }

    @Test("A statement is executed by its name once the server has prepared it, and by its text until then")
    func lifeCycle() {
        var prepared = PreparedStatements(maxCount: 2)
        #expect(prepared.use(query(1)) == .prepare("s1", evicting: nil))
        #expect(prepared.use(query(1)) == .unprepared)
        prepared.prepared(query(1))
        #expect(prepared.use(query(1)) == .ready("s1"))
        prepared.refused(query(1))
        #expect(prepared.use(query(1)) == .prepare("s2", evicting: nil))
        #expect(prepared.spoiled(query(1)) == nil)
        prepared.prepared(query(1))
        #expect(prepared.spoiled(query(1)) == "s2")
        #expect(prepared.spoiled(query(1)) == nil)
    }

    @Test("The one that was not used for longest makes room, and never one that is being prepared")
    func eviction() {
        var prepared = PreparedStatements(maxCount: 2)
        for number in 1...2 {
            _ = prepared.use(query(number))
            prepared.prepared(query(number))
        }
        #expect(prepared.use(query(1)) == .ready("s1"))
        #expect(prepared.use(query(3)) == .prepare("s3", evicting: "s2"))
        #expect(prepared.use(query(4)) == .prepare("s4", evicting: "s1"))
        #expect(prepared.use(query(5)) == .unprepared)
        prepared.prepared(query(3))
        #expect(prepared.use(query(5)) == .prepare("s5", evicting: "s3"))
    }

    @Test("The same text with parameters of other types is another statement; values make no difference")
    func types() {
        var prepared = PreparedStatements(maxCount: 9)
        #expect(prepared.use("SELECT \(1)") == .prepare("s1", evicting: nil))
        prepared.prepared("SELECT \(1)")
        #expect(prepared.use("SELECT \(2)") == .ready("s1"))
        #expect(prepared.use("SELECT \("2")") == .prepare("s2", evicting: nil))
    }
}
