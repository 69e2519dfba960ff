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
            try await body(RecordAdministration(users: users))
        }
    }

    /// Gives or takes a role, and notifies readers, since roles decide on what they see.
    ///
    /// - Parameters:
    ///   - change: Whether it is given or taken.
    ///   - role: The role's name.
    ///   - selector: The user.
    /// - Returns: Whether that is a change.
    /// - Throws: `UserAdministrationError.noSuchUser`, `RoleError`, `PostgresError`.
    package func change(_ change: ManageRoles.Change, _ role: String, of selector: UserSelector) async throws -> Bool {
        let memberID = try await users.find(selector).memberId
        return try await notifying {
            try await ManageRoles.change(change, role, ofMember: memberID, in: users.postgres)
        }
    }

    /// Switches a role off or on, and notifies readers.
    ///
    /// - Parameters:
    ///   - role: The role's name.
    ///   - isDisabled: Whether it gives nothing from now on.
    /// - Returns: Whether that is a change.
    /// - Throws: `RoleError.noRole`, `PostgresError`.
    package func setDisabled(_ role: String, _ isDisabled: Bool) async throws -> Bool {
        try await notifying { try await roles.setDisabled(role, isDisabled) }
    }

    private func notifying(_ change: () async throws -> Bool) async throws -> Bool {
        let isChanged = try await change()
        if isChanged { await ChangeBell(postgres: users.postgres).ringForEverything() }
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
        if let report, !report.plan.changes.isEmpty { await ChangeBell(postgres: users.postgres).ringForEverything() }
        return report
    }
}
