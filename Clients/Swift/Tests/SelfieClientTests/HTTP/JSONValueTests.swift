import Foundation
import Testing

@testable import SelfieClient

@Suite("JSON values")
struct JSONValueTests {
    @Test("nil is no value, and null is one")
    func null() throws {
        let value: JSONValue = ["here": 1, "null": .null]
        #expect(value["gone"] == nil && value["null"] != nil && value["null"] == .null)
        let none: JSONValue? = nil
        #expect(none == nil && none != .null)
        var changed: [String: JSONValue] = ["a": 1, "b": 2]
        changed["a"] = nil
        changed["b"] = .null
        #expect(changed == ["b": .null])
        #expect((JSONValue.self as Any) as? any ExpressibleByNilLiteral.Type == nil)
    }

    @Test("Literals and their JSON are the same")
    func literals() throws {
        let value: JSONValue = ["text": "t", "list": [1, 2.5, true, .null, [:]]]
        let json = #"{"list":[1,2.5,true,null,{}],"text":"t"}"#
        #expect(String(decoding: try JSONCoding.encode(value), as: UTF8.self) == json)
        #expect(try JSONCoding.decode(JSONValue.self, from: Data(json.utf8)) == value)
    }
}
