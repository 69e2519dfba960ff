/// The schema in the folder can't be applied.
struct SchemaNotApplied: Error, CustomStringConvertible {
    /// What it would change.
    let plan: String
    let file: String

    var description: String { "\(file) can't be applied:\n\(plan)" }
}
