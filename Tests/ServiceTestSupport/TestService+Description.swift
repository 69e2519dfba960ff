import ConnectionTestSupport
import Foundation
import HTTPTypes
package import SelfieWeb
import Testing

extension TestService {
    /// Expects that the description of a request's endpoint tells of the answer.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - method: The request's method.
    ///   - target: Its path and query.
    static func expectDescription(of answer: HTTPAnswer, to method: String, _ target: String) {
        guard let endpoint = Endpoint.of(method: method, target: target) else {
            // Nothing but the endpoints has an answer. The last three are the connection's own.
            let isPreflight = method == "OPTIONS" && answer.headers["access-control-allow-origin"] != nil
            let statuses = [404, 400, 408, 431] + (isPreflight ? [204] : [])
            #expect(statuses.contains(answer.status), "\(method) \(target.prefix { $0 != "?" }): there is no endpoint")
            return
        }
        // A proxy's own answer.
        if answer.status == 502, answer.headers["server"]?.hasPrefix("nginx") == true { return }
        // Whoever asks for compressed bytes looks into them.
        guard answer.headers["content-encoding"] == nil else { return }
        let isDescribed = endpoint.tells(of: answer, isHead: method == "HEAD")
        #expect(
            isDescribed,
            "\(method) \(target.prefix { $0 != "?" }): \(answer.status) is not in the endpoint's description"
        )
    }
}

extension Endpoint {
    /// The endpoint that a request is for; nil when there is none.
    package static func of(method: String, target: String) -> Endpoint? {
        var segments = target.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        if let last = segments.last, last.hasSuffix(".json") { segments[segments.count - 1] = String(last.dropLast(5)) }
        return Routes.endpoints.first { endpoint in
            let pattern = endpoint.path.split(separator: "/")
            return endpoint.method.rawValue == (method == "HEAD" ? "GET" : method) && pattern.count == segments.count
                && zip(pattern, segments).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
        }
    }

    /// Whether the endpoint says that it may answer so.
    fileprivate func tells(of answer: HTTPAnswer, isHead: Bool) -> Bool {
        if answers.contains(where: { $0.status.code == answer.status && (isHead || $0.body.tells(of: answer)) }) {
            return true
        }
        return allRefusals.contains { refusal in
            guard refusal.status.code == answer.status else { return false }
            if isHead { return true }
            guard refusal.code == answer.json["code"] as? String, let message = answer.message else { return false }
            // With several complaints about parameters, the code is that of the first.
            return refusal.message == message
                || message.hasPrefix(refusal.message) && isMadeOfComplaints(message.dropFirst(refusal.message.count))
        }
    }

    private func isMadeOfComplaints(_ message: Substring) -> Bool {
        message.isEmpty
            || parameters.flatMap(\.complaints).contains {
                message.hasPrefix($0.message) && isMadeOfComplaints(message.dropFirst($0.message.count))
            }
    }
}

extension Endpoint.Answer.Body {
    /// Whether an answer's body is what the description says.
    fileprivate func tells(of answer: HTTPAnswer) -> Bool {
        switch self {
        case .none: answer.body.isEmpty
        case .message(let text): answer.text == "{\"status\":200,\"message\":\"\(text)\"}"
        case .object(let members): Self.isObject(answer.json, of: members)
        case .array(let members): answer.jsonArray?.allSatisfy { Self.isObject($0, of: members) } == true
        case .photoBytes: Self.isPhoto(answer.headers["content-type"])
        case .page: answer.text.contains("Glad to find you here!")
        }
    }

    private static func isObject(_ object: [String: Any], of members: [Endpoint.Answer.Member]) -> Bool {
        object.count == members.count
            && members.allSatisfy { member in object[member.name].map(member.kind.tells) == true }
    }

    /// Railsauth noted no type, so its photos may have none.
    private static func isPhoto(_ contentType: String?) -> Bool {
        contentType?.hasPrefix("image/") == true || contentType == "application/octet-stream"
    }
}

extension Endpoint.Answer.Member.Kind {
    fileprivate func tells(of value: Any) -> Bool {
        switch self {
        case .text: value is String
        case .textOrNull: value is String || value is NSNull
        case .null: value is NSNull
        case .time: (value as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil
        case .timeOrNull: value is NSNull || Self.time.tells(of: value)
        case .numberOrNull: value is NSNull || value is Int
        case .url: (value as? String)?.hasPrefix("http") == true
        case .flag: value is Bool
        }
    }
}
