import Foundation
import Testing

@testable import SelfieClient

@Suite("The order and the conditions of a live query")
struct LiveQueryTests {
    private struct Item: RecordFields {
        static let collection = "items"
        var value: JSONValue?
    }

    private static func entry(_ id: String, _ value: JSONValue?, second: Int = 0, version: Int64 = 1) throws
        -> ReplicaEntry
    {
        let time = "2026-11-28T10:00:\(second < 10 ? "0" : "")\(second).000Z"
        let record: JSONValue = [
            "id": .string(id), "collection": "items", "data": value.map { ["value": $0] } ?? [:], "owner": "ada",
            "version": .integer(version), "created_at": .string(time), "updated_at": .string(time),
        ]
        return try ReplicaEntry("items", id, record)
    }

    private static func ids(
        _ values: [JSONValue?],
        _ filters: [RecordFilter] = [],
        _ order: RecordOrder = .ascending("value")
    ) throws -> [Int] {
        var query = LiveQuery<Record<Item>>(filters: filters, order: order, limit: nil)
        var entries: [String: ReplicaEntry?] = [:]
        for (number, value) in values.enumerated() {
            entries["\(number)"] = try entry("\(number)", value, second: number)
        }
        query.update(entries)
        return query.results.compactMap { Int($0.id) }
    }

    @Test("Kinds of values come in the service's order, equal ones in the order of their creation")
    func order() throws {
        let values: [JSONValue?] = [
            "b", 2, nil, true, "B", .number(1.5), false, .null, [1], "a", "2026-11-28T12:00:00.5+02:00",
            "2026-11-28T10:00:00Z", 2,
        ]
        let expected = [2, 7, 6, 3, 8, 5, 1, 12, 11, 10, 4, 9, 0]
        #expect(try Self.ids(values) == expected)
        #expect(try Self.ids(values, [], .descending("value")) == expected.reversed())
        #expect(try Self.ids(values, [], .newestFirst) == Array((0..<13).reversed()))
        #expect(try Self.ids(values, [], .ascending("created_at")) == Array(0..<13))
    }

    @Test("Conditions find values of their own kind")
    func conditions() throws {
        let values: [JSONValue?] = [1, 2, .number(2.5), "2", nil, .null, true, "two", "Two"]
        #expect(try Self.ids(values, [.equal("value", 2)]) == [1])
        #expect(try Self.ids(values, [.equal("value", .number(2))]) == [1])
        #expect(try Self.ids(values, [.equal("value", "2")]) == [3])
        #expect(try Self.ids(values, [.equal("value", .null)]) == [4, 5])
        #expect(try Self.ids(values, [.oneOf("value", [true, "two"])]) == [6, 7])
        #expect(try Self.ids(values, [.range("value", from: 2)]) == [1, 2])
        #expect(try Self.ids(values, [.range("value", above: 1, through: 2)]) == [1])
        #expect(try Self.ids(values, [.range("value", from: "A", below: "a")]) == [8])
        #expect(try Self.ids(values, [.prefix("value", "t")]) == [7])
    }

    @Test("A difference tells what came, changed and went, and a second look nothing")
    func difference() throws {
        var query = LiveQuery<Record<Item>>(filters: [.range("value", from: 1)], order: .oldestFirst, limit: 1)
        var difference = query.update([
            "a": try Self.entry("a", 1), "b": try Self.entry("b", 2), "c": try Self.entry("c", 0),
        ])
        #expect(Set(difference.inserted.map(\.id)) == ["a", "b"])
        #expect(query.results.map(\.id) == ["a"])
        difference = query.update(["a": try Self.entry("a", 3, version: 2), "b": nil, "c": nil])
        #expect(difference.updated.map(\.version) == [2] && difference.removed == ["b"] && difference.inserted.isEmpty)
        #expect(query.update(["a": try Self.entry("a", 3, version: 2), "b": nil]).isEmpty)
        #expect(query.update(["a": try Self.entry("a", 0, version: 3)]).removed == ["a"])
    }

    @Test("Texts are equal by their code points, and long ones that begin alike come in the order of their creation")
    func texts() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(try Self.ids([.string(composed), .string(decomposed)], [.equal("value", composed)]) == [0])
        let beginning = String(repeating: "a", count: 128)
        #expect(try Self.ids([.string(beginning + "z"), .string(beginning + "b"), .string(beginning)]) == [0, 1, 2])
    }

    @Test("A record that was made anew with the same version has changed")
    func sameVersion() throws {
        var query = LiveQuery<Record<Item>>(filters: [], order: .oldestFirst, limit: nil)
        #expect(query.update(["1": try Self.entry("1", "old", second: 1)]).inserted.count == 1)
        #expect(query.update(["1": try Self.entry("1", "old", second: 1)]).isEmpty)
        #expect(query.update(["1": try Self.entry("1", "new", second: 2)]).updated.map(\.fields.value) == ["new"])
    }

    @Test("After any changes, one by one or many at once, the result is as if it was sorted anew", arguments: 1...10)
    func manyChanges(seed: Int) throws {
        var numbers = SplitMix(state: UInt64(seed))
        var present: [String: (value: Int, second: Int)] = [:]
        var up = LiveQuery<Record<Item>>(filters: [.range("value", from: 3)], order: .ascending("value"), limit: nil)
        var down = LiveQuery<Record<Item>>(filters: [.range("value", from: 3)], order: .descending("value"), limit: 5)
        for _ in 0..<60 {
            var entries: [String: ReplicaEntry?] = [:]
            for _ in 0..<Int.random(in: 1...(Bool.random(using: &numbers) ? 2 : 40), using: &numbers) {
                let id = "\(Int.random(in: 0..<80, using: &numbers))"
                if Int.random(in: 0..<3, using: &numbers) == 0 {
                    (present[id], entries[id]) = (nil, .some(nil))
                } else {
                    let item = (Int.random(in: 0..<10, using: &numbers), Int.random(in: 0..<5, using: &numbers))
                    present[id] = item
                    entries[id] = try Self.entry(id, .integer(Int64(item.0)), second: item.1)
                }
            }
            up.update(entries)
            down.update(entries)
            let expected = present.filter { $0.value.value >= 3 }
                .sorted { ($0.value.value, $0.value.second, $0.key) < ($1.value.value, $1.value.second, $1.key) }
                .map(\.key)
            #expect(up.results.map(\.id) == expected)
            #expect(down.results.map(\.id) == Array(expected.reversed().prefix(5)))
        }
    }
}

/// Numbers that are the same in each run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
