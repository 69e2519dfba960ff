import Testing

@testable import Migrations

@Suite("A migration's file")
struct MigrationTests {
    private static let contents = "-- migrate:up\nup\n-- migrate:down\ndown\n"

    @Test("The name gives version and name, the markers the two parts")
    func parts() throws {
        let migration = try Migration(
            fileName: "20261121000100_add_things.sql",
            contents: "-- why\n-- migrate:up\nCREATE TABLE t ();\n-- migrate:down\nDROP TABLE t;\n"
        )
        #expect(migration.version == "20261121000100")
        #expect(migration.name == "add_things")
        #expect(migration.fileName == "20261121000100_add_things.sql")
        #expect(migration.up == "CREATE TABLE t ();")
        #expect(migration.down == "DROP TABLE t;\n")
    }

    @Test(
        "Markers may have other white space around and in them",
        arguments: [
            "-- migrate:up\nup\n-- migrate:down\ndown", "  --  migrate:up  \nup\n\t--\tmigrate:down\ndown",
            "-- migrate:up\r\nup\r\n-- migrate:down\r\ndown",
        ]
    )
    func markers(_ contents: String) throws {
        let migration = try Migration(fileName: "20261121000100_a.sql", contents: contents)
        #expect(migration.up == "up" && migration.down == "down")
    }

    @Test("Either part may be empty")
    func emptyParts() throws {
        let migration = try Migration(fileName: "20261121000100_a.sql", contents: "-- migrate:up\n-- migrate:down")
        #expect(migration.up.isEmpty && migration.down.isEmpty)
    }

    @Test(
        "A name of another form is refused",
        arguments: [
            "2026112100010_a.sql", "202611210001000_a.sql", "20261121000100.sql", "20261121000100_.sql",
            "20261121000100_Add.sql", "20261121000100_a-b.sql", "20261121000100_a b.sql", "20261121000100_a.SQL",
            "20261121000100_a.sql.bak", "a_20261121000100.sql", "２０２６１１２１０００１００_a.sql", "20261121000100_é.sql", "",
        ]
    )
    func misnamed(_ fileName: String) {
        let error = #expect(throws: MigrationError.self) {
            try Migration(fileName: fileName, contents: Self.contents)
        }
        guard case .invalidFileName(fileName) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("<14-digit version>_<name>.sql") == true)
    }

    @Test(
        "A file without both markers in their order is refused",
        arguments: [
            ("", "-- migrate:up"),
            ("CREATE TABLE t ();", "-- migrate:up"),
            ("-- migrate:up\nCREATE TABLE t ();", "-- migrate:down"),
            ("-- migrate:down\nDROP TABLE t;", "-- migrate:up"),
            ("-- migrate:down\n-- migrate:up\n", "-- migrate:up"),
            ("-- migrate:up CREATE TABLE t ();\n-- migrate:down", "-- migrate:up"),
            ("--migrate:up\n-- migrate:down", "-- migrate:up"),
            ("-- MIGRATE:UP\n-- migrate:down", "-- migrate:up"),
        ]
    )
    func withoutMarker(contents: String, missing: String) {
        let error = #expect(throws: MigrationError.self) {
            try Migration(fileName: "20261121000100_a.sql", contents: contents)
        }
        guard case .missingMarker("20261121000100_a.sql", missing) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("20261121000100_a.sql") == true)
    }
}
