package import Postgres
package import RecordSchema
package import SelfieCore

/// Everything that the command line does with the schema and with roles.
package struct RecordAdministration: Sendable {
    private let users: UserAdministration

    /// The roles and their members.
    package var roles: RoleStore { RoleStore(postgres: users.postgres) }

    /// Runs a body with a database.
    ///
    /// - Parameters:
    ///   - configuration: The database.
    ///   - body: What to do.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, `UserAdministrationError.notMigrated` or `.unreachable`.
    package static func with<Result>(
        _ configuration: PostgresConfiguration,
        _ body: (RecordAdministration) async throws -> Result
    ) async throws -> Result {
        try await UserAdministration.with(configuration) { users in
            let result = try await body(RecordAdministration(users: users))
            // Roles and the schema decide on what readers see.
            await ChangeBell(postgres: users.postgres).ringForEverything()
            return result
        }
    }

    /// The schema that is applied.
    ///
    /// - Returns: The schema, which is empty before the first was applied.
    /// - Throws: `PostgresError`, `InvalidSchema`.
    package func schema() async throws -> Schema {
        try await SchemaStore(postgres: users.postgres).applied().schema
    }

    /// What applying a schema would do.
    ///
    /// - Parameter schema: The schema.
    /// - Returns: The plan.
    /// - Throws: `PostgresError`, `InvalidSchema`.
    package func plan(_ schema: Schema) async throws -> SchemaPlan {
        try await ApplySchema(postgres: users.postgres).plan(schema)
    }

    /// Applies a schema.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - plan: What its operator has agreed to.
    /// - Returns: What was done; nil when the present schema is not the plan's any more.
    /// - Throws: `SchemaPlanRefused`, `RecordsBusy`, `PostgresError`.
    package func apply(_ schema: Schema, as plan: SchemaPlan) async throws -> ApplySchema.Report? {
        try await ApplySchema(postgres: users.postgres)(schema, as: plan)
    }

    /// The id of a user.
    ///
    /// - Parameter selector: The user.
    /// - Returns: The id.
    /// - Throws: `UserAdministrationError.noSuchUser`, `PostgresError`.
    package func id(of selector: UserSelector) async throws -> Int {
        try await users.id(of: selector)
    }
}
