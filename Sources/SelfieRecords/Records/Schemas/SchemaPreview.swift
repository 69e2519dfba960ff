package import RecordSchema

/// What applying a schema would do to existing records.
package struct SchemaPreview: Sendable {
    package let plan: SchemaPlan
    /// What each change of the plan does to records, in the plan's order.
    package let effects: [Effect]
    /// How many records of each collection would break its new rules.
    package let misfits: [(collection: String, count: Int)]

    /// What a change does to existing records.
    package struct Effect: Sendable {
        /// How many it removes.
        package var removedCount: Int?
        /// How many it shows, and to how many more people.
        ///
        /// The people are nil where that depends on the record.
        package var shown: (recordCount: Int, memberCount: Int?)?
    }

    /// Whether it shows existing records to more people.
    package var showsMore: Bool { effects.contains { $0.shown.map { $0.recordCount > 0 } ?? false } }

    /// Whether its operator must confirm it.
    package var needsConfirmation: Bool { !plan.losses.isEmpty || showsMore }
}
