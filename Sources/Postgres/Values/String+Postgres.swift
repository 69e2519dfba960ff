extension String: PostgresEncodable {
    /// The string as UTF-8; PostgreSQL refuses one that holds U+0000 (SQLSTATE 22021).
    package var postgresValue: PostgresValue { PostgresValue(type: .text, bytes: binary) }
}

extension String: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool {
        switch type {
        case .text, .varchar, .bpchar, .name: true
        default: false
        }
    }

    package init(postgresBytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell) {
        guard let string = String(validating: postgresBytes, as: UTF8.self) else { throw .malformed }
        self = string
    }
}
