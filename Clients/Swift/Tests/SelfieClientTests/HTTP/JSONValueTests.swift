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

    @Test("Each Int64 and each Double is sent as it is, and a Decimal of 15 digits")
    func numbers() throws {
        struct Numbers: Codable, Equatable {
            var integers: [Int64] = [.min, .max, (1 << 53) + 1, -1, 0]
            var doubles = [0.1, 1e300, -.leastNonzeroMagnitude, .greatestFiniteMagnitude, 1.0 / 3, 2, 1e19]
            var decimal = Decimal(123_456_789_012_345) / 1_000_000
        }
        let sent = try JSONCoding.encode(JSONValue(encoding: Numbers()))
        #expect(try JSONCoding.decode(Numbers.self, from: sent) == Numbers())
        #expect(String(decoding: sent, as: UTF8.self).contains(#""decimal":123456789.012345"#))
    }

    @Test("Literals and their JSON are the same")
    func literals() throws {
        let value: JSONValue = ["text": "t", "list": [1, 2.5, true, .null, [:]]]
        let json = #"{"list":[1,2.5,true,null,{}],"text":"t"}"#
        #expect(String(decoding: try JSONCoding.encode(value), as: UTF8.self) == json)
        #expect(try JSONCoding.decode(JSONValue.self, from: Data(json.utf8)) == value)
    }
}
