extension Bool: PostgresEncodable {
    package var postgresValue: PostgresValue { PostgresValue(type: .bool, bytes: [self ? 1 : 0]) }
}

extension Bool: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool { type == .bool }

    package init(postgresBytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell) {
        guard postgresBytes.count == 1 else { throw .malformed }
        self = postgresBytes.first != 0
    }
}
