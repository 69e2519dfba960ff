import Testing

@testable import SelfieClient

@Suite("Merge patches")
struct MergePatchTests {
    private static func value(_ text: String) throws -> JSONValue {
        try JSONCoding.decode([JSONValue].self, from: .init("[\(text)]".utf8))[0]
    }

    @Test(
        "They are applied as RFC 7396 says, in its appendix",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#), (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ]
    )
    func appendix(original: String, patch: String, result: String) throws {
        #expect(try Self.value(original).applying(mergePatch: Self.value(patch)) == Self.value(result))
    }

    @Test(
        "A patch has what is different, and makes one value of the other",
        arguments: [
            (#"{"a":1,"b":2}"#, #"{"a":1,"b":3}"#, #"{"b":3}"#), (#"{"a":1,"b":2}"#, #"{"a":1}"#, #"{"b":null}"#),
            (#"{"a":1}"#, #"{"a":1}"#, "{}"), (#"{"a":{"b":1,"c":2}}"#, #"{"a":{"b":1,"c":3}}"#, #"{"a":{"c":3}}"#),
            (#"{"a":{"b":1}}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"{"a":[1,2]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"{"a":1}"#, #"{"a":1,"b":{"c":true}}"#, #"{"b":{"c":true}}"#),
            (#"{"a":"x"}"#, #"{"a":{"b":1}}"#, #"{"a":{"b":1}}"#),
        ]
    )
    func difference(before: String, after: String, patch: String) throws {
        let (before, after) = (try Self.value(before), try Self.value(after))
        #expect(try before.mergePatch(to: after) == Self.value(patch))
        #expect(try before.applying(mergePatch: Self.value(patch)) == after)
    }
}
