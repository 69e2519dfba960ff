/// A parameter in the form in which it travels to the server: a type and the type's binary format.
package struct PostgresValue: Sendable, Equatable {
    /// The type, or 0 for the server to infer it from the parameter's use.
    let type: PostgresType
    /// The value's bytes; nil for NULL.
    let bytes: [UInt8]?

    static let null = PostgresValue(type: PostgresType(rawValue: 0), bytes: nil)
}

/// A Swift value that can be bound to a statement.
package protocol PostgresEncodable {
    var postgresValue: PostgresValue { get }
}
