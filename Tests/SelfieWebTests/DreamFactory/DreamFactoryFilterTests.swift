import JSON
import Testing

@testable import SelfieWeb

@Suite("Filters as apps that were made for DreamFactory send them")
struct DreamFactoryFilterTests {
    private typealias Test = DreamFactoryFilter.Test

    private static func tests(_ text: String) throws -> [String] {
        try DreamFactoryFilter(text).tests.map { "\($0.field) \($0.word) \($0.value.text)" }
    }

    @Test(
        "They are read as tests of fields",
        arguments: [
            ("status = 1", ["status = 1"]),
            ("status=1", ["status = 1"]),
            ("a='x' AND b>=-2.5", [#"a = "x""#, "b >= -2.5"]),
            ("(a = 1) and (b < 2 AND c <= 3)", ["a = 1", "b < 2", "c <= 3"]),
            ("((a > 1))", ["a > 1"]),
            ("a IN (1,2, 3)", ["a in [1,2,3]"]),
            ("a in ('x')", [#"a in ["x"]"#]),
            ("a like 'Bug%'", [#"a prefix "Bug""#]),
            ("a LIKE 'exact'", [#"a = "exact""#]),
            (#"a LIKE '50\%\_%'"#, [#"a prefix "50%_""#]),
            ("a IS NULL", ["a = null"]),
            ("a = true AND b = FALSE", ["a = true", "b = false"]),
            ("a = \"double\"", [#"a = "double""#]),
            ("a = 'it''s'", [#"a = "it's""#]),
            (#"a = 'it\'s \\ here'"#, [#"a = "it's \\ here""#]),
            ("`order` = 1", ["order = 1"]),
            ("last_name = 'AND b = 2'", [#"last_name = "AND b = 2""#]),
        ]
    )
    func read(text: String, tests: [String]) throws {
        #expect(try Self.tests(text) == tests)
    }

    @Test(
        "All else is refused by its name",
        arguments: [
            ("a = 1 OR b = 2", "OR"), ("NOT a = 1", "NOT"), ("a <> 1", "<>"), ("a != 1", "!="), ("a == 1", "=="),
            ("a LIKE '%x'", "LIKE '%x'"), ("a LIKE 'x%y'", "LIKE 'x%y'"), ("a LIKE 'x_'", "LIKE 'x_'"),
            ("a LIKE 5", "5"), ("a NOT IN (1)", "NOT"), ("a IS NOT NULL", "NOT"), ("a BETWEEN 1 AND 2", "BETWEEN"),
            ("lower(a) = 'x'", "("), ("a = b", "b"), ("a = 1; DROP TABLE users", ";"), ("a = 1 -- x", "--"),
            ("a = 1 && b = 2", "&&"), ("a = NULL", "NULL"), ("1 = 1", "1"), ("'a' = 1", "a"),
            ("a CONTAINS 'x'", "CONTAINS"),
            ("a = 0x10", "x10"), ("a = 01", "01"), ("a = 'x", "'"), ("`a", "`"), ("a = 1)", ")"), ("a IN ()", ")"),
            ("a = 1 b = 2", "b"), ("AND = 1", "AND"), ("a.b = 1", "."), ("é = 1", "é"),
        ]
    )
    func refused(text: String, part: String) {
        #expect(throws: DreamFactoryFilter.Unsupported(part: part)) { try DreamFactoryFilter(text) }
    }

    @Test(
        "One that ends too early is refused",
        arguments: ["", "a", "a =", "(a = 1", "a = 1 AND", "a IN (1", "a IS", "(("]
    )
    func ended(text: String) {
        #expect(throws: DreamFactoryFilter.Unsupported(part: nil)) { try DreamFactoryFilter(text) }
    }

    @Test("Brackets in each other end at sixteen")
    func deep() throws {
        func filter(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a = 1" + String(repeating: ")", count: depth)
        }
        #expect(try Self.tests(filter(16)) == ["a = 1"])
        #expect(throws: DreamFactoryFilter.Unsupported(part: "(")) { try DreamFactoryFilter(filter(17)) }
    }

    @Test("No text makes it trap", arguments: 0..<200)
    func anyText(seed: UInt64) {
        let parts = [
            "a", "=", " ", "'", "\"", "\\", "(", ")", ",", "IN", "LIKE", "%", "_", "1", "-", "AND", "IS", "NULL", "`",
            "é", "\0",
        ]
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        var text = ""
        for _ in 0..<30 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text += parts[Int(state >> 33) % parts.count]
        }
        _ = try? DreamFactoryFilter(text)
    }
}
