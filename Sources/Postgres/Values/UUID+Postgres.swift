package import FoundationEssentials

extension UUID: PostgresEncodable {
    package var postgresValue: PostgresValue {
        PostgresValue(type: .uuid, bytes: withUnsafeBytes(of: uuid) { Array($0) })
    }
}

extension UUID: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool { type == .uuid }

    package init(postgresBytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell) {
        guard postgresBytes.count == MemoryLayout<uuid_t>.size else { throw .malformed }
        self.init(uuid: postgresBytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
}
