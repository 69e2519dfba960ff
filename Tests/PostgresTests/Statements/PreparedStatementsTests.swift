import Testing

@testable import Postgres

@Suite("What a session keeps prepared")
struct PreparedStatementsTests {
    private func query(_ number: Int) -> PostgresQuery { PostgresQuery(stringLiteral: "SELECT \(number)") }

    private func name(_ query: PostgresQuery) -> String {
        var prepared = PreparedStatements(maxCount: 1)
        guard case .prepare(let name, _) = prepared.use(query) else { return "" }
        return name
    }

    @Test("A statement is executed by its name once the server has prepared it, and by its text until then")
    func lifeCycle() {
        var prepared = PreparedStatements(maxCount: 2)
        let name = name(query(1))
        #expect(prepared.use(query(1)) == .prepare(name, evicting: nil))
        #expect(prepared.use(query(1)) == .unprepared)
        prepared.prepared(query(1))
        #expect(prepared.use(query(1)) == .ready(name))
        prepared.refused(query(1))
        #expect(prepared.use(query(1)) == .prepare(name, evicting: nil))
        #expect(prepared.spoiled(query(1)) == nil)
        prepared.prepared(query(1))
        #expect(prepared.spoiled(query(1)) == name)
        #expect(prepared.spoiled(query(1)) == nil)
    }

    @Test("The least recently used one is evicted, and never one that is being prepared")
    func eviction() {
        var prepared = PreparedStatements(maxCount: 2)
        let names = (0...5).map { name(query($0)) }
        for number in 1...2 {
            _ = prepared.use(query(number))
            prepared.prepared(query(number))
        }
        #expect(prepared.use(query(1)) == .ready(names[1]))
        #expect(prepared.use(query(3)) == .prepare(names[3], evicting: names[2]))
        #expect(prepared.use(query(4)) == .prepare(names[4], evicting: names[1]))
        #expect(prepared.use(query(5)) == .unprepared)
        prepared.prepared(query(3))
        #expect(prepared.use(query(5)) == .prepare(names[5], evicting: names[3]))
    }

    @Test("The same text with parameters of other types is another statement; values make no difference")
    func types() {
        var prepared = PreparedStatements(maxCount: 9)
        let queries: [PostgresQuery] = [
            "SELECT \(1)", "SELECT \("2")", "SELECT \(1) ", "SELECT \(1), \("2")", "SELECT \("1"), \(2)",
        ]
        let names = queries.map(name)
        #expect(Set(names).count == queries.count)
        #expect(names.allSatisfy { $0.wholeMatch(of: /statement_[0-9a-f]{32}/) != nil })
        #expect(prepared.use(queries[0]) == .prepare(names[0], evicting: nil))
        prepared.prepared(queries[0])
        #expect(prepared.use("SELECT \(2)") == .ready(names[0]))
        #expect(prepared.use(queries[1]) == .prepare(names[1], evicting: nil))
    }

    @Test("If none may be prepared, every statement is sent as text")
    func none() {
        var prepared = PreparedStatements(maxCount: 0)
        for _ in 0..<2 { #expect(prepared.use(query(1)) == .unprepared) }
    }
}
