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
    private(set) var positions: [Int: Int]
    /// What is yet to come of a stream that was not read to its end.
    private(set) var backlogs: [Int: Backlog] = [:]

    /// What a stream had when it was read, though not to its end.
    struct Backlog: Sendable, Equatable {
        /// The number of the last change at the last reading.
        let last: Int
        /// The same when the client began with nothing; 0 for a client that had something of the stream.
        ///
        /// What ended up to there, the client never had.
        let begun: Int
    }

    /// The form's number, which a new form changes.
    private static let form: UInt8 = 2
    /// The most streams: one of the user's, one of each role and one of each collection.
    private static let maxStreamCount = 128

    init(mark: Int, clearedVersion: Int, filter: Int, positions: [Int: Int]) {
        self.mark = mark
        self.clearedVersion = clearedVersion
        self.filter = filter
        self.positions = positions
    }

    /// Goes on in a stream.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - number: Where the client is now.
    ///   - last: The number of the stream's last change when that was read.
    mutating func move(_ stream: Int, to number: Int, last: Int) {
        let begun = hasNothing(of: stream) ? last : self.begun(stream)
        positions[stream] = number
        backlogs[stream] = number < last ? Backlog(last: last, begun: begun) : nil
    }

    /// Goes on to the end of a stream.
    mutating func move(_ stream: Int, to last: Int) {
        move(stream, to: last, last: last)
    }

    /// Is in a stream where another cursor is.
    mutating func take(_ stream: Int, of other: ChangeCursor) {
        positions[stream] = other.positions[stream] ?? 0
        backlogs[stream] = other.backlogs[stream]
    }

    /// The number of a stream's last change when it was last read.
    func last(of stream: Int) -> Int {
        backlogs[stream]?.last ?? positions[stream] ?? 0
    }

    /// Up to which number the client never had what has ended since.
    func begun(_ stream: Int) -> Int {
        hasNothing(of: stream) ? .max : backlogs[stream]?.begun ?? 0
    }

    private func hasNothing(of stream: Int) -> Bool { positions[stream] ?? 0 == 0 }

    /// The place in one stream, whatever the collections.
    ///
    /// It says nothing of what a client had before.
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
        self.init(mark: mark, clearedVersion: version, filter: filter, positions: [:])
        for _ in 0..<count {
            guard let stream = Self.number(&rest), let position = Self.number(&rest), let last = Self.number(&rest)
            else { return nil }
            positions[stream] = position
            guard last > 0 else { continue }
            guard let begun = Self.number(&rest) else { return nil }
            backlogs[stream] = Backlog(last: last, begun: begun)
        }
        guard rest.isEmpty else { return nil }
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
            Self.append(backlogs[stream]?.last ?? 0, to: &bytes)
            if let backlog = backlogs[stream] { Self.append(backlog.begun, to: &bytes) }
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
