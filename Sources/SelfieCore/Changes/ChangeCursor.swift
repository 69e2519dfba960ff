import Encodings

/// Where a client is in the changes: for each of its streams, the number of the last change that it has got.
///
/// Clients get it as text. Its form is no promise, and what it holds gives no right.
package struct ChangeCursor: Sendable, Equatable {
    /// The mark of the start of PostgreSQL that it was given out under.
    let mark: Int
    /// The schema after which nothing was removed without a number.
    let clearedVersion: Int
    /// Names the collections that were asked for; 0 for all.
    var filter: Int
    /// The number of the last change, by stream.
    ///
    /// A stream without one shows all that it has.
    var positions: [Int: Int]

    /// The form's number, which a new form changes.
    private static let form: UInt8 = 1
    /// The most streams: one of the user's, one of each role and one of each collection.
    private static let maxStreamCount = 128

    init(mark: Int, clearedVersion: Int, filter: Int, positions: [Int: Int]) {
        self.mark = mark
        self.clearedVersion = clearedVersion
        self.filter = filter
        self.positions = positions
    }

    /// The place in one stream, whatever the collections.
    func part(of stream: Int) -> ChangeCursor {
        ChangeCursor(mark: mark, clearedVersion: clearedVersion, filter: 0, positions: [stream: positions[stream] ?? 0])
    }

    /// Whether what was looked up for one of them holds for the other: a start and a schema are the same.
    func agrees(with other: ChangeCursor) -> Bool {
        mark == other.mark && clearedVersion == other.clearedVersion
    }

    /// Reads a cursor; nil for a text that is none.
    ///
    /// - Parameter text: As a client got it.
    package init?(_ text: String) {
        guard let bytes = Base64URL.bytes(of: text), bytes.first == Self.form else { return nil }
        var rest = bytes.dropFirst()
        guard let mark = Self.number(&rest), let version = Self.number(&rest), let filter = Self.number(&rest),
            let count = Self.number(&rest), count <= Self.maxStreamCount
        else { return nil }
        var positions: [Int: Int] = [:]
        for _ in 0..<count {
            guard let stream = Self.number(&rest), let position = Self.number(&rest) else { return nil }
            positions[stream] = position
        }
        guard rest.isEmpty else { return nil }
        self.init(mark: mark, clearedVersion: version, filter: filter, positions: positions)
    }

    /// As clients get it.
    package var text: String {
        var bytes = [Self.form]
        for number in [mark, clearedVersion, filter] { Self.append(number, to: &bytes) }
        // A stream of which nothing was seen says nothing.
        let seen = positions.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        Self.append(seen.count, to: &bytes)
        for (stream, position) in seen {
            Self.append(stream, to: &bytes)
            Self.append(position, to: &bytes)
        }
        return bytes.withUnsafeBytes(Base64URL.string)
    }

    /// Appends seven bits a byte, the lowest first; the highest bit says that more follow (as LEB128 does).
    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: Int64(number))
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while let byte = bytes.popFirst() {
            guard shift < 63 else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            shift += 7
            if byte & 0x80 == 0 { return Int(exactly: number) }
        }
        return nil
    }
}
