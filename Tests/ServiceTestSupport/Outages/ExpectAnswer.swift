package import ConnectionTestSupport
import Testing

/// Sends a call and expects its answer in time.
///
/// - Parameters:
///   - maxAnswer: The time; nil where it does not count.
///   - name: The call's name, for the failure's text.
///   - send: Sends it.
/// - Returns: The answer.
/// - Throws: What sending throws.
package func expectAnswer(
    within maxAnswer: Duration?,
    name: String = "",
    _ send: () async throws -> HTTPAnswer
) async throws -> HTTPAnswer {
    guard let maxAnswer else { return try await send() }
    let start = ContinuousClock.now
    let answer = try await send()
    #expect(ContinuousClock.now - start < maxAnswer, "\(name)")
    return answer
}
