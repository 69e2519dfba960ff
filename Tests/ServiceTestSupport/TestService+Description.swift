import Foundation
import HTTPTypes
package import SelfieWeb
import TestSupport
import Testing

extension TestService {
    /// Expects that the description of a request's endpoint tells of the answer.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - method: The request's method.
    ///   - target: Its path and query.
    static func expectDescription(of answer: HTTPAnswer, to method: String, _ target: String) {
        guard let endpoint = Endpoint.of(method: method, target: target) else { return }
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
            // The message about parameters is made of what is wrong with each.
            return isHead || refusal == .invalidParameters || refusal.message == answer.message
        }
    }
}

extension Endpoint.Answer.Body {
    private static let account: Set = ["first_name", "last_name", "email", "api_authtoken", "authtoken_expiry"]
    private static let photo: Set = ["name", "title", "image_url", "random_id"]
    private static let session: Set = ["id", "device", "created_at", "last_used_at", "expires_at", "current"]

    /// Whether an answer's body is what the description says.
    fileprivate func tells(of answer: HTTPAnswer) -> Bool {
        switch self {
        case .none: answer.body.isEmpty
        case .message(let text): answer.text == "{\"status\":200,\"message\":\"\(text)\"}"
        case .account: Set(answer.json.keys) == Self.account && answer.json["api_authtoken"] is NSNull
        case .accountWithToken: Set(answer.json.keys) == Self.account && answer.json["api_authtoken"] is String
        case .token: Set(answer.json.keys) == ["api_authtoken", "authtoken_expiry"]
        case .photo: Set(answer.json.keys) == Self.photo
        case .photos: answer.jsonArray?.allSatisfy { Set($0.keys) == Self.photo } == true
        case .sessions: answer.jsonArray?.allSatisfy { Set($0.keys) == Self.session } == true
        case .photoBytes: Self.isPhoto(answer.headers["content-type"])
        case .page: answer.text.contains("Glad to find you here!")
        }
    }

    /// Railsauth noted no type, so its photos may have none.
    private static func isPhoto(_ contentType: String?) -> Bool {
        contentType?.hasPrefix("image/") == true || contentType == "application/octet-stream"
    }
}
