extension Int: PostgresEncodable {
    package var postgresValue: PostgresValue { PostgresValue(type: .int8, bytes: binary) }
}

extension Int: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool { byteCount(of: type) != nil }

    package init(postgresBytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell) {
        guard let first = postgresBytes.first, postgresBytes.count == Self.byteCount(of: type) else {
            throw .malformed
        }
        let sign = Int(Int8(bitPattern: first))
        self = postgresBytes.dropFirst().reduce(sign) { $0 << 8 | Int($1) }
    }

    private static func byteCount(of type: PostgresType) -> Int? {
        switch type {
        case .int2: 2
        case .int4: 4
        case .int8: 8
        default: nil
        }
    }
}
