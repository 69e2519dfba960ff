/// Asks until the answer is yes, for so long at most.
///
/// The limit is there for what never comes, so it leaves room for a machine that is busy with other work.
///
/// - Parameters:
///   - what: What is waited for, for the failure's text.
///   - timeout: How long to ask.
///   - condition: The question.
/// - Throws: `NotInTime`, or what the question throws.
package func poll(
    _ what: String,
    within timeout: Duration = .seconds(60),
    _ condition: () async throws -> Bool
) async throws {
    try await found(what, within: timeout) { try await condition() ? () : nil }
}

/// Looks until something is there, for so long at most.
///
/// - Parameters:
///   - what: What is looked for, for the failure's text.
///   - timeout: How long to look.
///   - look: Finds it; nil while it is not there.
/// - Returns: What was found.
/// - Throws: `NotInTime`, or what the look throws.
package func found<Result>(
    _ what: String,
    within timeout: Duration = .seconds(60),
    _ look: () async throws -> Result?
) async throws -> Result {
    let deadline = ContinuousClock.now + timeout
    while true {
        if let result = try await look() { return result }
        guard ContinuousClock.now < deadline else { throw NotInTime(what: what) }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Something that a test waited for and that did not come.
package struct NotInTime: Error, CustomStringConvertible {
    let what: String

    package init(what: String) {
        self.what = what
    }

    package var description: String { "not in time: \(what)" }
}
