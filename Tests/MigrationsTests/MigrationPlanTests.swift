import Testing

@testable import Migrations

@Suite("The plan")
struct MigrationPlanTests {
    private static let migrations = ["1", "2", "3"].compactMap { digit in
        try? Migration(
            fileName: "2026010100000\(digit)_m\(digit).sql",
            contents: "-- migrate:up\n\(digit)\n-- migrate:down\n"
        )
    }
    private static let checksums = Dictionary(
        uniqueKeysWithValues: migrations.map { ($0.version, "sum of \($0.name)") }
    )

    private func plan(_ applied: [(String, String?)]) -> MigrationPlan {
        MigrationPlan(
            migrations: Self.migrations,
            checksums: Self.checksums,
            applied: applied.map { MigrationPlan.Applied(version: "2026010100000\($0.0)", checksum: $0.1) }
        )
    }

    private func states(_ plan: MigrationPlan) -> [String] {
        plan.entries.map { "\($0.version.suffix(1)) \($0.name ?? "-") \($0.state.rawValue)" }
    }

    @Test("On a new database everything is pending, in order")
    func new() throws {
        let plan = plan([])
        #expect(states(plan) == ["1 m1 pending", "2 m2 pending", "3 m3 pending"])
        #expect(try plan.pending().map(\.name) == ["m1", "m2", "m3"])
        #expect(try plan.rollback(to: .last(5)).isEmpty)
    }

    @Test("Applied migrations are not pending, whatever the order of the database's answer")
    func applied() throws {
        let plan = plan([("2", "sum of m2"), ("1", "sum of m1")])
        #expect(states(plan) == ["1 m1 applied", "2 m2 applied", "3 m3 pending"])
        #expect(try plan.pending().map(\.name) == ["m3"])
        #expect(try plan.rollback(to: .last(1)).map(\.name) == ["m2"])
        #expect(try plan.rollback(to: .last(9)).map(\.name) == ["m2", "m1"])
    }

    @Test("What Rails applied, without a checksum, counts as unedited")
    func rails() throws {
        let plan = plan([("1", nil)])
        #expect(states(plan).first == "1 m1 applied")
        #expect(try plan.pending().map(\.name) == ["m2", "m3"])
    }

    @Test("A step that was left out in between is pending")
    func gap() throws {
        let plan = plan([("1", "sum of m1"), ("3", "sum of m3")])
        #expect(try plan.pending().map(\.name) == ["m2"])
        #expect(try plan.rollback(to: .last(1)).map(\.name) == ["m3"])
    }

    @Test("A file that was edited after it was applied stops the plan, and can be reverted")
    func edited() throws {
        let plan = plan([("1", "another sum"), ("2", "sum of m2")])
        #expect(states(plan) == ["1 m1 edited", "2 m2 applied", "3 m3 pending"])
        #expect {
            try plan.pending()
        } throws: {
            guard case MigrationError.edited(let migrations) = $0 else { return false }
            return migrations.map(\.name) == ["m1"] && "\($0)".contains("20260101000001_m1.sql")
        }
        #expect(try plan.rollback(to: .last(2)).map(\.name) == ["m2", "m1"])
    }

    @Test("A version without a file is shown, does not stop what is pending, and can't be reverted")
    func missing() throws {
        let plan = plan([("1", "sum of m1"), ("9", nil)])
        #expect(states(plan) == ["1 m1 applied", "2 m2 pending", "3 m3 pending", "9 - no file"])
        #expect(try plan.pending().map(\.name) == ["m2", "m3"])
        for count in [1, 2] {
            #expect {
                try plan.rollback(to: .last(count))
            } throws: {
                guard case MigrationError.missingFile("20260101000009") = $0 else { return false }
                return true
            }
        }
    }
}
