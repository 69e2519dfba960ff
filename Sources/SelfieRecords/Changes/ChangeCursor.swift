import Encodings

/// A client's position in the changes: for each of its streams, the number of the last change that it has received.
///
/// Clients get it as text, and must not rely on its form. It gives no rights.
package struct ChangeCursor: Sendable, Equatable {
    let epoch: ChangeEpoch
    /// A hash of the names of the collections that were asked for; nil for all.
    var filter: Int?
    /// By stream.
    ///
    /// The client has received nothing of a stream without a position.
    private(set) var positions: [Int: Position] = [:]

    /// A client's position in a stream.
    struct Position: Sendable, Equatable {
        /// The number of the last change that the client has received; 0 for none.
        let number: Int
        /// The stream's end when it was read, which is further than the number as long as the client is behind.
        let end: StreamEnd
        /// The number of the stream's last change when the client began to read it, if it is still behind the end of its
        /// first reading.
        ///
        /// The client never received records that ended up to there.
        let begun: Int?
    }

    /// The form's number, which a new form changes.
    private static let form: UInt8 = 3
    /// The most streams: one of the user's, one of each role and one of each collection.
    private static let maxStreamCount = 128

    init(epoch: ChangeEpoch, filter: Int?) {
        self.epoch = epoch
        self.filter = filter
    }

    /// Moves to a later change of a stream, which had this end when it was read.
    mutating func move(_ stream: Int, to number: Int, end: StreamEnd) {
        let begun = self.number(in: stream) == 0 ? end.number : positions[stream]?.begun
        positions[stream] = Position(number: number, end: end, begun: number < end.number ? begun : nil)
    }

    /// Copies another cursor's position in a stream; the beginning if it has none.
    mutating func takePosition(in stream: Int, of other: ChangeCursor?) {
        positions[stream] =
            other?.positions[stream] ?? Position(number: 0, end: StreamEnd(number: 0, postgresStart: 0), begun: nil)
    }

    /// The number of the last change that the client has received of a stream; 0 for none.
    func number(in stream: Int) -> Int { positions[stream]?.number ?? 0 }

    /// The client never received records that ended up to this number.
    func begun(in stream: Int) -> Int {
        number(in: stream) == 0 ? .max : positions[stream]?.begun ?? 0
    }

    // MARK: Text

    /// Parses a cursor; nil for other texts.
    ///
    /// - Parameter text: As a client got it.
    package init?(_ text: String) {
        guard let bytes = Base64URL.bytes(of: text), bytes.first == Self.form else { return nil }
        var rest = bytes.dropFirst()
        guard let database = Self.number(&rest), var start = Self.number(&rest), let schemaVersion = Self.number(&rest),
            let clearedVersion = Self.number(&rest), let filter = Self.number(&rest), let count = Self.number(&rest),
            count <= Self.maxStreamCount
        else { return nil }
        epoch = ChangeEpoch(
            database: database,
            postgresStart: start,
            schemaVersion: schemaVersion,
            clearedVersion: clearedVersion
        )
        self.filter = filter == 0 ? nil : filter
        for _ in 0..<count {
            guard let stream = Self.number(&rest), let number = Self.number(&rest), let lead = Self.number(&rest),
                let startChange = Self.number(&rest), let begun = Self.number(&rest),
                case (let end, false) = number.addingReportingOverflow(lead)
            else { return nil }
            start ^= startChange
            positions[stream] = Position(
                number: number,
                end: StreamEnd(number: end, postgresStart: start),
                begun: begun == 0 ? nil : begun
            )
        }
        guard rest.isEmpty else { return nil }
    }

    /// Whether a text is a cursor of an older version, which this one can't read.
    static func isOfOlderForm(_ text: String) -> Bool {
        Base64URL.bytes(of: text)?.first.map { (1..<form).contains($0) } ?? false
    }

    /// As clients get it.
    package var text: String {
        var bytes = [Self.form]
        // A stream of which nothing was received is left out.
        let seen = positions.filter { $0.value.number > 0 }.sorted { $0.key < $1.key }
        var start = epoch.postgresStart
        for number in [epoch.database, start, epoch.schemaVersion, epoch.clearedVersion, filter ?? 0, seen.count] {
            Self.append(number, to: &bytes)
        }
        for (stream, position) in seen {
            Self.append(stream, to: &bytes)
            Self.append(position.number, to: &bytes)
            Self.append(position.end.number - position.number, to: &bytes)
            // Most streams were last changed under the same start, so this is 0.
            Self.append(position.end.postgresStart ^ start, to: &bytes)
            Self.append(position.begun ?? 0, to: &bytes)
            start = position.end.postgresStart
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
