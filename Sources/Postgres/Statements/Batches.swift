/// Changes many rows some at a time, so that no statement takes long however many there are.
///
/// - Parameters:
///   - rowCount: How many rows one statement changes at most.
///   - change: Runs a statement with that limit, and returns how many rows it changed.
/// - Throws: What the closure throws; what was changed until then stays so, unless a transaction is rolled back.
package func inBatches(of rowCount: Int = 5_000, _ change: (Int) async throws -> Int) async throws {
    while try await change(rowCount) >= rowCount {}
}
