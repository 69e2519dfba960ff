import HTTPTypes
import Testing

@testable import HTTPConnection

@Suite("Request ids")
struct RequestIdentifierTests {
    private func id(for value: String?) throws -> String {
        var fields = HTTPFields()
        fields[try #require(RequestIdentifier.headerName)] = value
        return RequestIdentifier.of(fields)
    }

    @Test(
        "A client's own id is used if it is short and plain",
        arguments: ["a", "A-Z-09", "0f8fad5b-d9cb-469f-a165-70867728950e", String(repeating: "x", count: 255)]
    )
    func kept(value: String) throws {
        #expect(try id(for: value) == value)
    }

    @Test(
        "Any other is replaced by one of 32 hexadecimal digits",
        arguments: [nil, "", " ", "a b", "a_b", "a.b", "ü", "a\"b", "a=b,c", String(repeating: "x", count: 256)]
    )
    func replaced(value: String?) throws {
        let made = try id(for: value)
        #expect(made != value)
        #expect(made.wholeMatch(of: /[0-9a-f]{32}/) != nil)
    }

    @Test("No two are the same")
    func unique() {
        #expect(Set((0..<1000).map { _ in RequestIdentifier.make() }).count == 1000)
    }
}
