import Testing

@testable import SelfieWeb

@Suite("Form parameters")
struct FormParametersTests {
    @Test(
        "Names and values are decoded, and of duplicates the last wins",
        arguments: [
            ("", [:]),
            ("a=1", ["a": "1"]),
            ("a=1&b=2", ["a": "1", "b": "2"]),
            ("a=1;b=2", ["a": "1", "b": "2"]),
            ("a=1&a=2", ["a": "2"]),
            ("a=1&a=", ["a": ""]),
            ("a", [:]),
            ("a=1&a", [:]),
            ("=1", ["": "1"]),
            ("&&a=1&", ["a": "1"]),
            ("a=b=c", ["a": "b=c"]),
            ("a+b=c+d", ["a b": "c d"]),
            ("%61=%2B%26%3D%3B", ["a": "+&=;"]),
            ("a=%c3%BC", ["a": "ü"]),
            ("a=ü", ["a": "ü"]),
            ("a=%00", ["a": "\0"]),
        ] as [(String, [String: String])]
    )
    func decoding(text: String, expected: [String: String]) throws {
        #expect(try FormParameters.parse(Array(text.utf8)) == expected)
    }

    @Test(
        "A percent sign without two digits, and bytes that are not UTF-8, are malformed",
        arguments: ["a=%", "a=%4", "a=%g0", "a=%0g", "%=1", "a=%FF", "a=%C3", "%C3%28=1", "a=%+1", "a=%-1", "a=%４1"]
    )
    func malformed(text: String) {
        #expect(throws: ServiceError.malformedParameters) { try FormParameters.parse(Array(text.utf8)) }
    }

    @Test("As many pairs as the limit are taken, and not one more")
    func limit() throws {
        let most = (0..<256).map { "p\($0)=x" }.joined(separator: "&")
        #expect(try FormParameters.parse(Array(most.utf8)).count == 256)
        for further in ["q=x", "p0=x", "q", "=", "%"] {
            #expect(throws: ServiceError.tooManyParameters) {
                try FormParameters.parse(Array("\(most)&\(further)".utf8))
            }
        }
    }
}
