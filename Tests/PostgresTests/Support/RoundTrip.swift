import Postgres

/// Sends a value to the server, which sends it back.
func roundTrip<Value: PostgresEncodable & PostgresDecodable & Sendable>(_ value: Value) async throws -> Value {
    try await withSharedClient { client in
        try await client.read("SELECT \(value) AS value")[0].decode("value")
    }
}

/// What the server takes a value for.
func serverText(of value: some PostgresEncodable & Sendable) async throws -> String {
    try await withSharedClient { client in
        try await client.read("SELECT \(value)::text AS text")[0].decode("text")
    }
}

/// Reads an expression's value.
func read<Value: PostgresDecodable & Sendable>(
    _ expression: String,
    as type: Value.Type = Value.self
) async throws -> Value {
    try await withSharedClient { client in
        try await client.read(PostgresQuery(stringLiteral: "SELECT \(expression) AS value"))[0].decode("value")
    }
}
