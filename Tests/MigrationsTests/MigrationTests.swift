import Testing

@testable import Migrations

@Suite("Migration")
struct MigrationTests {
    @Test("A file's name gives version and name, its markers the two parts")
    func parts() throws {
        let migration = try Migration(
            fileName: "20261121000100_add_things.sql",
            contents: "-- why\n-- migrate:up\nCREATE TABLE t ();\n-- migrate:down\nDROP TABLE t;\n"
        )
        #expect(migration.version == "20261121000100")
        #expect(migration.name == "add_things")
        #expect(migration.up == "CREATE TABLE t ();")
        #expect(migration.down == "DROP TABLE t;\n")
    }
}
