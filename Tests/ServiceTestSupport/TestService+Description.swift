import ConnectionTestSupport
import Foundation
import HTTPTypes
package import SelfieWeb
import Testing

extension TestService {
    /// Expects that the description of a request's endpoint has the answer.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - method: The request's method.
    ///   - target: Its path and query.
    static func expectDescription(of answer: HTTPAnswer, to method: String, _ target: String) {
        // A proxy's own answer.
        if answer.headers["x-request-id"] == nil, answer.headers["server"]?.hasPrefix("nginx") == true { return }
        if answer.status >= 400 {
            #expect(
                answer.headers["cache-control"] == "no-store",
                "\(method) \(target.prefix { $0 != "?" }): \(answer.status)"
            )
        }
        guard let endpoint = Endpoint.of(method: method, target: target) else {
            // Nothing but the endpoints has an answer. The last three are the connection's own.
            let isPreflight = method == "OPTIONS" && answer.headers["access-control-allow-origin"] != nil
            let statuses = [404, 405, 400, 408, 431] + (isPreflight ? [204] : [])
            #expect(statuses.contains(answer.status), "\(method) \(target.prefix { $0 != "?" }): there is no endpoint")
            return
        }
        // Whoever asks for compressed bytes looks into them.
        guard answer.headers["content-encoding"] == nil else { return }
        // A call that a setting closes.
        if answer.status == 404, answer.json["code"] as? String == "endpoint_not_found" { return }
        let call = "\(method) \(target.prefix { $0 != "?" }): \(answer.status)"
        if let problem = APIDescription.problem(with: answer, of: endpoint, isHead: method == "HEAD") {
            Issue.record("\(call) is not as the API's document says: \(problem)")
        }
        if answer.status >= 400, method != "HEAD", answer.jsonArray == nil {
            #expect(endpoint.describes(refusal: answer), "\(call): no refusal has this code and this message")
        }
    }
}

extension Endpoint {
    /// The endpoint that a request is for; nil when there is none.
    package static func of(method: String, target: String) -> Endpoint? {
        var segments = target.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        if let last = segments.last, last.hasSuffix(".json") { segments[segments.count - 1] = String(last.dropLast(5)) }
        return patterns.first { endpoint, pattern in
            pattern.count == segments.count && endpoint.method.rawValue == (method == "HEAD" ? "GET" : method)
                && zip(pattern, segments).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
        }?.endpoint
    }

    /// All endpoints with the segments of their paths.
    private static let patterns = Routes.endpoints.map { endpoint in
        (endpoint: endpoint, segments: endpoint.pathWithoutFormat.split(separator: "/").map(String.init))
    }

    /// The codes of refusals whose messages name fields of the client's, or limits.
    private static let codesWithFields: Set = [
        "record_invalid", "record_malformed", "index_missing", "include_no_reference", "where_invalid", "ids_invalid",
        "request_too_large", "record_quota_reached", "record_id_invalid",
    ]

    /// Whether its refusals have no codes.
    private var isOfDreamFactory: Bool { path.hasPrefix("/rest/") }

    /// Whether one of its refusals has the answer's code and message.
    fileprivate func describes(refusal answer: HTTPAnswer) -> Bool {
        guard let text = answer.message else { return false }
        let code = answer.code
        let message = text.hasPrefix("record ") ? text.replacing(#/^record \d+: /#, with: "") : text
        return allRefusals.contains { refusal in
            guard refusal.status.code == answer.status, code.map({ $0 == refusal.code }) ?? isOfDreamFactory else {
                return false
            }
            if Self.codesWithFields.contains(refusal.code) { return true }
            // With several validationErrors about parameters, the code is that of the first.
            return refusal.message == message || refusal.rest(of: message[...]).map(isMadeOfValidationErrors) == true
        }
    }

    private func isMadeOfValidationErrors(_ message: Substring) -> Bool {
        message.isEmpty
            || (parameters.flatMap(\.validationErrors) + (body?.validationErrors ?? [])).contains {
                $0.rest(of: message).map(isMadeOfValidationErrors) == true
            }
    }
}

extension ServiceError {
    /// What follows this refusal's message; nil for a message that begins with another.
    fileprivate func rest(of message: Substring) -> Substring? {
        // The name is the client's own.
        if code == "field_unknown" {
            guard let end = message.range(of: " - is not known,"), !message[..<end.lowerBound].contains(",") else {
                return nil
            }
            return message[end.upperBound...]
        }
        return message.hasPrefix(self.message) ? message.dropFirst(self.message.count) : nil
    }
}
