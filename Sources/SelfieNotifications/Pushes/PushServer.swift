import Curl
import Deliveries
import Synchronization

/// A server of pushes: while it does not answer, many pushes do not wait for it.
final class PushServer: Sendable {
    private struct State {
        /// Until when nothing is tried; nil while it answers.
        var silentUntil: ContinuousClock.Instant?
    }

    /// As deliveries have it.
    let name: String
    private let state = Mutex(State())

    /// How long nothing is tried after a failure: shorter than the time in which a push is to arrive after the server's return.
    private static let pause: Duration = .seconds(3)
    /// How long it may ask for.
    private static let maxPause: Duration = .seconds(10)
    /// A request that fails sooner is sent once more at once: the connection was cut, and is not used again.
    private static let maxTimeOfCut: Duration = .seconds(2)

    init(_ name: String) { self.name = name }

    /// It did not answer.
    struct Unavailable: Error {
        /// The server's name.
        let server: String
        /// nil when it has just failed, and so was not asked.
        let error: CurlError?
    }

    /// Sends a request.
    ///
    /// - Parameter request: Sends it.
    /// - Returns: The answer.
    /// - Throws: ``Unavailable``, or what else the request has thrown.
    func answer<Answer>(to request: () async throws -> Answer) async throws -> Answer {
        guard begins() else { throw Unavailable(server: name, error: nil) }
        do {
            let answer = try await firstOrSecond(request)
            state.withLock { $0.silentUntil = nil }
            return answer
        } catch let failure as CurlFailure {
            rest(for: nil)
            throw Unavailable(server: name, error: failure.reason)
        }
    }

    private func firstOrSecond<Answer>(_ request: () async throws -> Answer) async throws -> Answer {
        let start = ContinuousClock.now
        do {
            return try await request()
        } catch is CurlFailure where ContinuousClock.now - start < Self.maxTimeOfCut {
            return try await request()
        }
    }

    /// What an answer means that says that the server takes nothing at present.
    ///
    /// - Parameters:
    ///   - reason: A word.
    ///   - pause: How long it asks to be left alone.
    /// - Returns: An outcome.
    func unavailable(_ reason: String, for pause: Duration?) -> DeliveryOutcome {
        rest(for: pause)
        return .unavailable(reason: reason, server: name)
    }

    private func rest(for pause: Duration?) {
        state.withLock { $0.silentUntil = .now + min(pause ?? Self.pause, Self.maxPause) }
    }

    /// Whether a request may be sent: after a failure, one at a time.
    private func begins() -> Bool {
        state.withLock { state in
            guard let end = state.silentUntil else { return true }
            guard end <= .now else { return false }
            state.silentUntil = .now + Self.pause
            return true
        }
    }
}
