package import FoundationEssentials

extension Date: PostgresEncodable {
    /// The instant in UTC as a `timestamp` without zone, rounded to microseconds.
    ///
    /// Columns of times are `timestamp` in UTC. A statement that compares it with a `timestamptz` says `AT TIME ZONE 'UTC'`, since
    /// the session's zone may be another.
    package var postgresValue: PostgresValue {
        let seconds = timeIntervalSince1970 - PostgresEpoch.secondsSince1970
        let microseconds = (seconds * PostgresEpoch.microsecondsPerSecond).rounded()
        let count = Int64(exactly: microseconds) ?? PostgresEpoch.outOfRange
        return PostgresValue(type: .timestamp, bytes: count.bigEndianBytes)
    }
}

extension Date: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool {
        switch type {
        case .timestamp, .timestamptz: true
        default: false
        }
    }

    /// Reads an instant; `infinity` and `-infinity` become the far future and the far past.
    package init(postgresBytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell) {
        let microseconds = try Int(postgresBytes: postgresBytes, type: .int8)
        switch microseconds {
        case .max: self = .distantFuture
        case .min: self = .distantPast
        default:
            let seconds = Double(microseconds) / PostgresEpoch.microsecondsPerSecond
            self = Date(timeIntervalSince1970: PostgresEpoch.secondsSince1970 + seconds)
        }
    }
}

/// Binary timestamps count microseconds from 2000-01-01 00:00 UTC (PostgreSQL's `datatype/timestamp.h`).
private enum PostgresEpoch {
    static let secondsSince1970 = 946_684_800.0
    static let microsecondsPerSecond = 1_000_000.0
    /// A count past the last year that PostgreSQL knows; it refuses it (SQLSTATE 22008).
    ///
    /// The largest count means infinity.
    static let outOfRange = Int64.max - 1
}
