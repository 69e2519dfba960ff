/// The object id of a PostgreSQL type, as the server's catalogue `pg_type.dat` fixes them.
package struct PostgresType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    static let bool = PostgresType(rawValue: 16)
    static let bytea = PostgresType(rawValue: 17)
    static let name = PostgresType(rawValue: 19)
    static let int8 = PostgresType(rawValue: 20)
    static let int2 = PostgresType(rawValue: 21)
    static let int4 = PostgresType(rawValue: 23)
    static let text = PostgresType(rawValue: 25)
    static let json = PostgresType(rawValue: 114)
    static let bpchar = PostgresType(rawValue: 1042)
    static let varchar = PostgresType(rawValue: 1043)
    static let timestamp = PostgresType(rawValue: 1114)
    static let timestamptz = PostgresType(rawValue: 1184)
    static let uuid = PostgresType(rawValue: 2950)
    static let jsonb = PostgresType(rawValue: 3802)

    static let nameArray = PostgresType(rawValue: 1003)
    static let byteaArray = PostgresType(rawValue: 1001)
    static let int2Array = PostgresType(rawValue: 1005)
    static let int4Array = PostgresType(rawValue: 1007)
    static let textArray = PostgresType(rawValue: 1009)
    static let bpcharArray = PostgresType(rawValue: 1014)
    static let varcharArray = PostgresType(rawValue: 1015)
    static let int8Array = PostgresType(rawValue: 1016)

    /// The type of an array type's elements; nil for all other types.
    var element: PostgresType? {
        switch self {
        case .nameArray: .name
        case .byteaArray: .bytea
        case .int2Array: .int2
        case .int4Array: .int4
        case .textArray: .text
        case .bpcharArray: .bpchar
        case .varcharArray: .varchar
        case .int8Array: .int8
        default: nil
        }
    }
}

extension PostgresType {
    /// The name in SQL, as in `int8` and `text[]`, where it is known; `type 600` and the like elsewhere.
    var sqlName: String {
        if let element { return element.sqlName + "[]" }
        return Self.sqlNames[self] ?? "type \(rawValue)"
    }

    private static let sqlNames: [PostgresType: String] = [
        .bool: "bool", .bytea: "bytea", .name: "name", .int8: "int8", .int2: "int2", .int4: "int4", .text: "text",
        .json: "json", .bpchar: "bpchar", .varchar: "varchar", .timestamp: "timestamp", .timestamptz: "timestamptz",
        .uuid: "uuid", .jsonb: "jsonb",
        // Nothing here reads these. They are named for errors: a sum, a mean or a cast may give one by mistake.
        PostgresType(rawValue: 26): "oid", PostgresType(rawValue: 700): "float4", PostgresType(rawValue: 701): "float8",
        PostgresType(rawValue: 1082): "date", PostgresType(rawValue: 1083): "time",
        PostgresType(rawValue: 1186): "interval", PostgresType(rawValue: 1700): "numeric",
    ]
}
