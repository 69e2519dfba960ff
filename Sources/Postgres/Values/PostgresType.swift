/// The object id of a PostgreSQL type, as the server's catalogue `pg_type.dat` fixes them.
package struct PostgresType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    static let bool = PostgresType(rawValue: 16)
    static let bytea = PostgresType(rawValue: 17)
    static let int8 = PostgresType(rawValue: 20)
    static let int2 = PostgresType(rawValue: 21)
    static let int4 = PostgresType(rawValue: 23)
    static let text = PostgresType(rawValue: 25)
    static let name = PostgresType(rawValue: 19)
    static let bpchar = PostgresType(rawValue: 1042)
    static let varchar = PostgresType(rawValue: 1043)
    static let timestamp = PostgresType(rawValue: 1114)
    static let timestamptz = PostgresType(rawValue: 1184)
}
