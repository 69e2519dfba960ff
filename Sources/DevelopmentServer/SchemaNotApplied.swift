/// The schema in the folder would lose data or show records to more people, or can't be applied.
struct SchemaNotApplied: Error, CustomStringConvertible {
    /// What it would change.
    let plan: String
    let file: String

    var description: String {
        """
        \(file) is not applied:
        \(plan)If that is meant, run: selfie schema apply --force \(file)
        """
    }
}
