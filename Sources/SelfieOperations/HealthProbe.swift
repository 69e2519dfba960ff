import Curl
import NIOCore
import NIOHTTP1

/// A question to a running service.
package enum HealthProbe {
    /// The service's answer.
    package struct Answer: Sendable {
        /// The body, as far as it was read.
        package let text: String
        /// Whether the status was 2xx.
        package let isHealthy: Bool
    }

    /// How long an answer may take; a check of the service's takes less.
    private static let timeout: Duration = .seconds(3)

    /// Asks once.
    ///
    /// - Parameter url: The service's `/readyz` or `/livez`.
    /// - Returns: The answer.
    /// - Throws: `NoAnswer` when none comes in time.
    package static func ask(_ url: String) async throws -> Answer {
        do {
            let answer = try await CurlClient().answer(to: CurlRequest(url: url), within: timeout)
            return Answer(text: String(buffer: answer.body), isHealthy: (200..<300).contains(answer.status.code))
        } catch {
            throw NoAnswer(url: url, cause: "\(error)")
        }
    }

    /// No server answered.
    struct NoAnswer: Error, CustomStringConvertible {
        let url: String
        let cause: String

        var description: String { "\(url) does not answer: \(cause)" }
    }
}
