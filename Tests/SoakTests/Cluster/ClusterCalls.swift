import ConnectionTestSupport
import Curl
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import ServiceTestSupport
import Synchronization
import TestSupport

/// Calls to a cluster by way of its proxies, and what became of each.
final class ClusterCalls: Sendable {
    /// An answer that is no success of the service's.
    struct Failure: Sendable {
        enum Kind: Hashable, Sendable {
            /// 503 with `Retry-After`, as it is to be.
            case unavailable
            /// 409 with `Retry-After`: the same upload is under way.
            case underWay
            /// 429 with `Retry-After`: too many calls are under way.
            case busy
            /// 429 or 503 without `Retry-After`, or another 5xx.
            case wrong(Int)
            /// No whole answer.
            case cut
            /// An export that broke off: its answer begins before all of it was read.
            case brokenOff
        }

        let call: String
        let kind: Kind
        let start: Date
        let end: Date
    }

    /// An answer, and how often the call was sent.
    struct Settled {
        let answer: HTTPAnswer
        let tries: Int

        /// Whether an earlier try may have had the same effect.
        var isRepeated: Bool { tries > 1 }
    }

    /// A call that got no answer for so long that its user gives up.
    struct Unanswered: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var successes: [String: Int] = [:]
        var failures: [Failure] = []
        var reroutes: [Failure] = []
        var violations: [String] = []
    }

    private let edges: [String]
    private let curl = CurlClient()
    private let state = Mutex(State())

    /// How long an app would wait for an answer.
    private static let patience: Duration = .seconds(15)
    private static let pause: Duration = .seconds(1)
    /// Longer than the key of an upload is held that a crash has interrupted.
    private static let giveUpAfter: Duration = .seconds(90)
    private static let maxBytes = 4 << 20

    /// - Parameter edges: The origins of the proxies, such as `http://edge1`.
    init(edges: [String]) { self.edges = edges }

    /// How many calls were answered, by name.
    var successes: [String: Int] { state.withLock { $0.successes } }
    var failures: [Failure] { state.withLock { $0.failures } }
    /// Tries that one proxy did not answer, after which the other one was asked at once.
    var reroutes: [Failure] { state.withLock { $0.reroutes } }
    /// What must not be, a sentence each.
    var violations: [String] { state.withLock { $0.violations } }

    func violate(_ what: String) {
        print("VIOLATION \(what)")
        state.withLock { $0.violations.append(what) }
    }

    /// Counts an answer.
    func count(_ name: String) { state.withLock { $0.successes[name, default: 0] += 1 } }

    /// Takes note of a call that a storm has sent, and that it does not send again.
    func note(_ call: StormCall) {
        let name = "storm: \(call.name)"
        if let kind = Self.kind(of: call.answer, to: call.name) {
            let failure = Failure(call: name, kind: kind, start: call.start, end: call.end)
            // What an app would have asked the other proxy for.
            if kind == .cut { state.withLock { $0.reroutes.append(failure) } } else { fail(failure) }
        } else if let answer = call.answer, answer.status == 200 {
            count(name)
        } else if let answer = call.answer, !call.refusals.contains(answer.status) {
            violate("\(name) was answered with \(answer.status): \(answer.text.prefix(200))")
        }
    }

    private func fail(_ failure: Failure) { state.withLock { $0.failures.append(failure) } }

    /// Sends a call again and again until it is answered by something else than 429 and 5xx, and than
    /// 409 for the same upload.
    ///
    /// - Parameters:
    ///   - name: What the call is named in reports.
    ///   - method: Such as `GET`.
    ///   - target: The path and query.
    ///   - headers: Names and values.
    ///   - body: The body.
    ///   - edge: Which proxy is asked first.
    /// - Returns: The answer.
    /// - Throws: ``Unanswered``.
    func settle(
        _ name: String,
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: Data? = nil,
        edge: Int
    ) async throws -> Settled {
        let deadline = ContinuousClock.now + Self.giveUpAfter
        for attempt in 0... {
            let start = Date()
            let origin = edges[(edge + attempt) % edges.count]
            let answer = try? await send(method, origin + target, headers: headers, body: body)
            let kind = Self.kind(of: answer, to: name)
            if let answer, kind == nil {
                count(name)
                return Settled(answer: answer, tries: attempt + 1)
            }
            let failure = Failure(call: name, kind: kind ?? .cut, start: start, end: Date())
            // An app that does not reach one proxy tries the other one at once.
            if answer == nil, attempt % 2 == 0 {
                state.withLock { $0.reroutes.append(failure) }
                continue
            }
            fail(failure)
            guard ContinuousClock.now < deadline else { break }
            try await Task.sleep(for: Self.pause)
        }
        throw Unanswered(description: "\(name) got no answer within \(Self.giveUpAfter)")
    }

    /// Why a call must be sent again; nil for an answer.
    private static func kind(of answer: HTTPAnswer?, to name: String) -> Failure.Kind? {
        guard let answer else { return name == ClusterAccount.export ? .brokenOff : .cut }
        let hasTime = answer.headers["retry-after"].flatMap { Int($0) } != nil
        return switch answer.status {
        case 503 where hasTime: .unavailable
        case 409 where hasTime: .underWay
        case 429 where hasTime: .busy
        case 429, 500...: .wrong(answer.status)
        default: nil
        }
    }

    private func send(
        _ method: String,
        _ url: String,
        headers: [(String, String)],
        body: Data?
    ) async throws -> HTTPAnswer {
        var request = CurlRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        request.headers = HTTPHeaders(headers)
        if let body { request.body = .bytes(ByteBuffer(data: body)) }
        var deadlines = CurlDeadlines(within: Self.patience)
        deadlines.connect = .seconds(2)
        let response = try await curl.perform(request, deadlines: deadlines) { response in
            let body = try await response.body.collect(upTo: Self.maxBytes)
            return (Int(response.status.code), response.headers, Data(buffer: body))
        }
        var values: [String: String] = [:]
        for (name, value) in response.1 { values[name.lowercased()] = value }
        return HTTPAnswer(status: response.0, headers: values, body: response.2)
    }
}
