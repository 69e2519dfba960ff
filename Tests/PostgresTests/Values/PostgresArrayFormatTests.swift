import TestSupport
import Testing

@testable import Postgres

@Suite("Malformed arrays")
struct PostgresArrayFormatTests {
    private func array(_ numbers: Int32..., bytes: [UInt8] = []) -> [UInt8] {
        numbers.flatMap(\.bigEndianBytes) + bytes
    }

    private func integers(_ bytes: [UInt8]) throws(UnreadableCell) -> [Int] {
        try [Int](postgresBytes: bytes[...], type: .int4Array)
    }

    @Test("What the server sends is read, an empty dimension too")
    func valid() throws {
        #expect(try integers(array(0, 0, 23)) == [])
        #expect(try integers(array(0, 1, 23)) == [])
        #expect(try integers(array(1, 0, 23, 0, 1)) == [])
        #expect(try integers(array(1, 0, 23, 2, 1, 4, 5, 4, -6)) == [5, -6])
        #expect(try integers(array(1, 1, 23, 1, -9, 4, -6)) == [-6])
    }

    @Test("Every array that does not add up is malformed")
    func malformed() {
        let table: [[UInt8]] = [
            [], array(0), array(0, 0), array(0, 0, 23, 0), array(0, 0, 23, bytes: [0]),
            // Dimensions, flags and element types that there are not, or that are another array's.
            array(-1, 0, 23), array(7, 0, 23), array(.max, 0, 23), array(.min, 0, 23),
            array(0, 2, 23), array(0, -1, 23), array(0, 0, 20), array(0, 0, 0), array(0, 0, -1), array(0, 0, 1007),
            // Lengths.
            array(1, 0, 23), array(1, 0, 23, 0), array(1, 0, 23, 1, 1), array(1, 0, 23, -1, 1),
            array(1, 0, 23, .max, 1), array(1, 0, 23, .min, 1), array(1, 0, 23, 2, 1, 4, 5),
            array(1, 0, 23, 1, 1, 4, 5, 4, 6), array(1, 0, 23, 0, 1, 4, 5),
            // Elements of another length than the type's, beyond the end, or NULL where there should be none.
            array(1, 0, 23, 1, 1, 0), array(1, 0, 23, 1, 1, 8, 0, 5), array(1, 0, 23, 1, 1, 3, bytes: [0, 0, 5]),
            array(1, 1, 23, 1, 1, -2), array(1, 1, 23, 1, 1, .min), array(1, 1, 23, 1, 1, .max, 5),
            array(1, 0, 23, 1, 1, -1), array(1, 1, 23, .max, 1, 4, 5),
        ]
        for bytes in table {
            #expect(throws: UnreadableCell.malformed, "\(bytes)") { try integers(bytes) }
        }
    }

    @Test("A NULL and a second dimension are distinguished from malformed bytes")
    func reasons() {
        let null = array(1, 1, 23, 2, 1, 4, 5, -1)
        #expect(throws: UnreadableCell.nullElement) { try [Int](postgresBytes: null[...], type: .int4Array) }
        let square = array(2, 0, 23, 1, 1, 1, 1, 4, 5)
        #expect(throws: UnreadableCell.dimensions(2)) { try integers(square) }
    }

    @Test("An element that is not UTF-8 makes its array malformed")
    func brokenText() {
        let bytes = array(1, 0, 25, 1, 1, 2, bytes: [0xC3, 0x28])
        #expect(throws: UnreadableCell.malformed) { try [String](postgresBytes: bytes[...], type: .textArray) }
    }

    @Test("An array cut at any byte, or with a byte too many, is malformed")
    func cuts() throws {
        for value in [["a", "Zoë", ""].postgresValue, [1, .max].postgresValue, [Int]().postgresValue] {
            let bytes = try #require(value.bytes)
            for cut in bytes.indices {
                #expect(throws: UnreadableCell.malformed, "\(cut)") { try decode(bytes[..<cut], of: value.type) }
            }
            #expect(throws: UnreadableCell.malformed) { try decode((bytes + [0])[...], of: value.type) }
        }
    }

    @Test("A slice that does not begin at 0 is read like any other")
    func slice() throws {
        let bytes = [9, 9, 9] + array(1, 0, 23, 1, 1, 4, 5) + [9]
        #expect(try [Int](postgresBytes: bytes[3..<bytes.count - 1], type: .int4Array) == [5])
    }

    @Test("Whatever bytes are changed, an array is read or refused", .timeLimit(.minutes(5)), arguments: 0..<4)
    func mutations(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let values = [
            ["a", "Zoë 😀", ""].postgresValue, ["b"].postgresValue, [1, .max, .min].postgresValue,
            [Int]().postgresValue,
        ]
        var readCount = 0
        for value in values {
            let original = try #require(value.bytes)
            for _ in 0..<2_000 {
                let bytes = mutate(original, &random)
                if (try? decode(bytes[...], of: value.type)) != nil { readCount += 1 }
            }
        }
        // Of changes that hit a lower bound or an element's bytes, many leave a valid array.
        #expect(readCount > 100)
    }

    private func decode(_ bytes: ArraySlice<UInt8>, of type: PostgresType) throws(UnreadableCell) {
        if type == .textArray {
            _ = try [String](postgresBytes: bytes, type: type)
        } else {
            _ = try [Int](postgresBytes: bytes, type: type)
        }
    }

    private func mutate(_ original: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.remove(at: index)
            default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            }
        }
        return bytes
    }
}
