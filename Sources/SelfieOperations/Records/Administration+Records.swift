import Postgres
package import RecordSchema
import SelfieAccounts
package import SelfieRecords

extension Administration {
    /// The roles and their members.
    package var roles: RoleStore { RoleStore(postgres: postgres) }

    /// Gives or takes a role, and notifies readers, since roles decide on what they see.
    ///
    /// - Parameters:
    ///   - change: Whether it is given or taken.
    ///   - role: The role's name.
    ///   - selector: The user.
    /// - Returns: Whether that is a change.
    /// - Throws: `AdministrationError.noSuchUser`, `RoleError`, `PostgresError`.
    package func change(_ change: ManageRoles.Change, _ role: String, of selector: UserSelector) async throws -> Bool {
        let memberID = try await find(selector).memberId
        return try await notifying {
            try await ManageRoles.change(change, role, ofMember: memberID, in: postgres)
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
        if isChanged { await ChangeNotifier(postgres: postgres).notifyOfEverything() }
        return isChanged
    }

    /// The schema that is applied.
    ///
    /// - Returns: The schema, which is empty before the first was applied.
    /// - Throws: `PostgresError`, `InvalidSchema`.
    package func schema() async throws -> Schema {
        try await SchemaStore(postgres: postgres).applied().schema
    }

    /// Reads all records of a collection, as lines that ``importRecords(from:into:isDryRun:onProgress:)`` takes.
    ///
    /// - Parameters:
    ///   - collection: The collection's name.
    ///   - body: Gets the lines, in batches.
    /// - Returns: The number of records; nil when there is no such collection.
    /// - Throws: `PostgresError`, `InvalidSchema`, what the body throws.
    package func exportRecords(of collection: String, _ body: (String) async throws -> Void) async throws -> Int? {
        try await ExportRecords(postgres: postgres)(collection, body)
    }

    /// A preview of applying a schema.
    ///
    /// - Parameter schema: The schema.
    /// - Returns: The plan, with the numbers of records and of people.
    /// - Throws: `PostgresError`, `InvalidSchema`.
    package func preview(_ schema: Schema) async throws -> SchemaPreview {
        try await ApplySchema(postgres: postgres).preview(schema)
    }

    /// Applies a schema.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - plan: What its operator has agreed to.
    ///   - mayShowMore: Whether records that are there may be shown to more people.
    /// - Returns: What was done; nil when the present schema is not the plan's any more, or when it would show new
    ///   records to more people.
    /// - Throws: `SchemaPlanRefused`, `RecordsBusy`, `PostgresError`.
    package func apply(
        _ schema: Schema,
        as plan: SchemaPlan,
        mayShowMore: Bool
    ) async throws -> ApplySchema.Report? {
        let report = try await ApplySchema(postgres: postgres)(schema, as: plan, mayShowMore: mayShowMore)
        // The schema decides on what readers see.
        if let report, !report.plan.changes.isEmpty { await ChangeNotifier(postgres: postgres).notifyOfEverything() }
        return report
    }
}
