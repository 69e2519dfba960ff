package import Postgres
package import RecordSchema
package import SelfieCore

/// Everything that the command line does with the schema and with roles.
package struct RecordAdministration: Sendable {
    private let users: UserAdministration

    /// The roles and their members.
    ///
    /// Changes go by ``change(_:)``, so that readers are told.
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
            try await body(RecordAdministration(users: users))
        }
    }

    /// Changes roles, and tells readers, since roles decide on what they see.
    ///
    /// - Parameter body: Changes them, and says whether it did.
    /// - Returns: Whether it did.
    /// - Throws: What the body throws.
    package func change(_ body: (RoleStore) async throws -> Bool) async throws -> Bool {
        let isChanged = try await body(roles)
        if isChanged { await ChangeNotifier(postgres: users.postgres).notifyOfEverything() }
        return isChanged
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
    /// - Returns: The plan, with the numbers of records and of people.
    /// - Throws: `PostgresError`, `InvalidSchema`.
    package func preview(_ schema: Schema) async throws -> SchemaPreview {
        try await ApplySchema(postgres: users.postgres).preview(schema)
    }

    /// Applies a schema.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - plan: What its operator has agreed to.
    ///   - mayShowMore: Whether records that are there may be shown to more people.
    /// - Returns: What was done; nil when the present schema is not the plan's any more, or when records have come that it
    ///   would show to more people.
    /// - Throws: `SchemaPlanRefused`, `RecordsBusy`, `PostgresError`.
    package func apply(
        _ schema: Schema,
        as plan: SchemaPlan,
        mayShowMore: Bool
    ) async throws -> ApplySchema.Report? {
        let report = try await ApplySchema(postgres: users.postgres)(schema, as: plan, mayShowMore: mayShowMore)
        // The schema decides on what readers see.
        if let report, !report.plan.changes.isEmpty {
            await ChangeNotifier(postgres: users.postgres).notifyOfEverything()
        }
        return report
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
