/// How long a diagnosis waits for what does not answer.
struct DiagnosisLimits: Sendable {
    var databaseConnect: Duration = .seconds(4)
    /// Longer than connecting takes, so that its reason comes out.
    var databaseLease: Duration = .seconds(6)
    var migrationStatus: Duration = .seconds(8)
    /// For what anybody may ask the store.
    var plainRequest: Duration = .seconds(5)
}
