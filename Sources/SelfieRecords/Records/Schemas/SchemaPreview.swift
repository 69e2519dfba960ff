import Encodings
package import RecordSchema

/// What applying a schema would do to existing records.
package struct SchemaPreview: Sendable {
    package let plan: SchemaPlan
    /// What each change of the plan does to records, in the plan's order.
    let effects: [Effect]
    /// How many records of each collection would break its new rules.
    package let misfits: [(collection: String, count: Int)]

    /// What a change does to existing records.
    struct Effect: Sendable {
        /// How many it removes.
        var removedCount: Int?
        /// How many it shows, and to how many more people.
        ///
        /// The people are nil where that depends on the record.
        var shown: (recordCount: Int, memberCount: Int?)?
    }

    /// Whether it shows existing records to more people.
    package var showsMore: Bool { effects.contains { $0.shown.map { $0.recordCount > 0 } ?? false } }

    /// Whether its operator must confirm it (`--force`).
    package var needsForce: Bool { !plan.losses.isEmpty || showsMore }

    /// The plan for people, a line for each change.
    ///
    /// Changes that lose data, show records to more people or can't be made are marked.
    package var text: String {
        zip(plan.changes, effects).map { change, effect in
            var (marks, counts): (String, [String]) = ("", [])
            if change.isRefused { marks += "refused: " }
            if change.losesData, !change.isRefused { marks += "loses data: " }
            if let count = effect.removedCount { counts.append(counted(count, "record")) }
            if let shown = effect.shown {
                if shown.recordCount > 0 { marks += "shows more: " }
                let people = shown.memberCount.map { $0 == 1 ? "1 more person" : "\($0) more people" }
                let records = counted(shown.recordCount, "record")
                counts.append("\(records) \(people.map { "to \($0)" } ?? "with their photos to those who read them")")
            }
            let suffix = counts.isEmpty ? "" : " (\(counts.joined(separator: "; ")))"
            return "  \(marks)\(change.description)\(suffix)\n"
        }.joined()
    }

    /// What its operator should know beside the plan, a line for each collection; empty for nothing.
    package var misfitText: String { Self.text(ofMisfits: misfits) }

    static func text(ofMisfits misfits: [(collection: String, count: Int)]) -> String {
        misfits.map { collection, count in
            let records = count == 1 ? "1 record of \(collection) does" : "\(count) records of \(collection) do"
            return "\(records) not keep to the new rules. They stay until somebody changes them.\n"
        }.joined()
    }
}

extension ApplySchema.Report {
    /// What its operator should know beside the plan, a line for each collection; empty for nothing.
    package var misfitText: String { SchemaPreview.text(ofMisfits: misfits) }
}
