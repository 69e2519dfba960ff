/// Asks until the answer is yes, for so long at most.
///
/// - Parameters:
///   - what: What is waited for, for the failure's text.
///   - timeout: How long to ask.
///   - condition: The question.
/// - Throws: `NotInTime`, or what the question throws.
func poll(_ what: String, within timeout: Duration = .seconds(20), _ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + timeout
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw NotInTime(what: what) }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// The 5 s within which an outage is answered, and what a machine that runs all tests at once may add.
let outageAnswerMax: Duration = .seconds(5) + .seconds(3)

/// Something that a test waited for and that did not come.
struct NotInTime: Error, CustomStringConvertible {
    let what: String

    var description: String { "not in time: \(what)" }
}
