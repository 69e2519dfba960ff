package import FoundationEssentials

/// A parameter in the form in which it travels to the server: a type and the type's binary format.
package struct PostgresValue: Sendable, Equatable {
    /// The type, or 0 for the server to infer it from where the parameter stands.
    let type: PostgresType
    /// The value's bytes; nil for NULL.
    let bytes: [UInt8]?

    static let null = PostgresValue(type: PostgresType(rawValue: 0), bytes: nil)
}

/// A Swift value that can be bound to a statement.
package protocol PostgresEncodable {
    var postgresValue: PostgresValue { get }
}

extension String: PostgresEncodable {
    /// The string as UTF-8; PostgreSQL refuses one that holds U+0000 (SQLSTATE 22021).
    package var postgresValue: PostgresValue { PostgresValue(type: .text, bytes: Array(utf8)) }
}

extension Int: PostgresEncodable {
    package var postgresValue: PostgresValue { PostgresValue(type: .int8, bytes: Int64(self).bigEndianBytes) }
}

extension Bool: PostgresEncodable {
    package var postgresValue: PostgresValue { PostgresValue(type: .bool, bytes: [self ? 1 : 0]) }
}

extension [UInt8]: PostgresEncodable {
    package var postgresValue: PostgresValue { PostgresValue(type: .bytea, bytes: self) }
}

extension Date: PostgresEncodable {
    /// The instant in UTC as a `timestamp` without zone, rounded to microseconds.
    package var postgresValue: PostgresValue {
        let seconds = timeIntervalSince1970 - PostgresEpoch.secondsSince1970
        let microseconds = (seconds * PostgresEpoch.microsecondsPerSecond).rounded()
        return PostgresValue(type: .timestamp, bytes: Int64(microseconds).bigEndianBytes)
    }
}

/// Binary timestamps count microseconds from 2000-01-01 00:00 UTC (PostgreSQL's `datatype/timestamp.h`).
enum PostgresEpoch {
    static let secondsSince1970 = 946_684_800.0
    static let microsecondsPerSecond = 1_000_000.0
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] {
        withUnsafeBytes(of: bigEndian) { Array($0) }
    }
}
