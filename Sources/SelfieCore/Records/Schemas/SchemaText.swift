package import RecordSchema

extension SchemaPlan {
    /// The plan for people, a line for each change.
    ///
    /// What loses data, and what can't be done, is marked.
    package var planText: String {
        changes.map { change in
            let mark = change.isRefused ? "refused: " : change.losesData ? "loses data: " : ""
            return "  \(mark)\(change.description)\n"
        }.joined()
    }
}

extension ApplySchema.Report {
    /// What its operator should know beside the plan, a line for each collection; empty for nothing.
    package var misfitText: String {
        misfits.map { collection, count in
            let records = count == 1 ? "1 record of \(collection) does" : "\(count) records of \(collection) do"
            return "\(records) not keep to the new rules. They stay until somebody changes them.\n"
        }.joined()
    }
}
