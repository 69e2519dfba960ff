package import FoundationEssentials

/// A Swift type that a column can be read into.
package protocol PostgresDecodable {
    /// Whether a column of this type can be read into this one.
    static func canDecode(_ type: PostgresType) -> Bool

    /// Reads a cell in its type's binary format; nil when it is malformed or does not fit.
    init?(postgresBytes: ArraySlice<UInt8>)
}

extension String: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool {
        switch type {
        case .text, .varchar, .bpchar, .name: true
        default: false
        }
    }

    package init?(postgresBytes: ArraySlice<UInt8>) {
        self.init(validating: postgresBytes, as: UTF8.self)
    }
}

extension Int: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool {
        switch type {
        case .int2, .int4, .int8: true
        default: false
        }
    }

    package init?(postgresBytes: ArraySlice<UInt8>) {
        guard let first = postgresBytes.first, postgresBytes.count <= MemoryLayout<Int>.size else { return nil }
        let sign = Int(Int8(bitPattern: first))
        self = postgresBytes.dropFirst().reduce(sign) { $0 << 8 | Int($1) }
    }
}

extension Bool: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool {
        switch type {
        case .bool: true
        default: false
        }
    }

    package init?(postgresBytes: ArraySlice<UInt8>) {
        guard postgresBytes.count == 1 else { return nil }
        self = postgresBytes.first != 0
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
    package init?(postgresBytes: ArraySlice<UInt8>) {
        guard postgresBytes.count == 8, let microseconds = Int(postgresBytes: postgresBytes) else { return nil }
        switch microseconds {
        case .max: self = .distantFuture
        case .min: self = .distantPast
        default:
            let seconds = Double(microseconds) / PostgresEpoch.microsecondsPerSecond
            self = Date(timeIntervalSince1970: PostgresEpoch.secondsSince1970 + seconds)
        }
    }
}

extension [UInt8]: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool {
        switch type {
        case .bytea: true
        default: false
        }
    }

    package init?(postgresBytes: ArraySlice<UInt8>) {
        self = Array(postgresBytes)
    }
}
