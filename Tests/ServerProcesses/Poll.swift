/// Asks until the answer is yes, or the time is over.
///
/// The usual limit is long, so that a busy machine is no failure.
///
/// - Parameters:
///   - what: The thing to wait for, for the error's text.
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

/// Looks until something is there, or the time is over.
///
/// - Parameters:
///   - what: The thing to find, for the error's text.
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
    var pause: Duration = .milliseconds(5)
    while true {
        if let result = try await look() { return result }
        guard ContinuousClock.now < deadline else { throw NotInTime(what: what) }
        try await Task.sleep(for: pause)
        // A look may cost a statement, and others need the processor.
        pause = min(pause * 1.25, .milliseconds(50))
    }
}

/// Something did not come in time.
package struct NotInTime: Error, CustomStringConvertible {
    let what: String

    package init(what: String) {
        self.what = what
    }

    package var description: String { "not in time: \(what)" }
}
