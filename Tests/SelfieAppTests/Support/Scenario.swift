import Foundation
import ServiceTestSupport

/// One request, and what its answer must be.
struct Scenario: Sendable {
    /// What a request's body holds.
    enum Payload: Sendable {
        case none
        case form([(String, String)])
        case json(String)
        case multipart([(String, String)])
        case raw(contentType: String, Data)
    }

    let name: String
    let method: String
    let target: String
    var headers: [(String, String)] = []
    var payload: Payload = .none
    var status = 200
    /// The answer's whole message; with it the body is known to the letter.
    var message: String?
    var contains: [String] = []
    var excludes: [String] = []
    /// What a refusal adds to the audit, which is all that it may change.
    var event: String?

    /// - Parameters:
    ///   - name: What the scenario is about.
    ///   - request: Method and target, as `GET /api/get_photos`.
    ///   - authorization: The header of that name.
    ///   - headers: Other headers.
    ///   - payload: The body.
    ///   - status: The answer's status.
    ///   - message: The answer's whole message.
    ///   - contains: What the body must have in it.
    ///   - excludes: What the body must not have in it.
    ///   - event: What a refusal adds to the audit.
    init(
        _ name: String,
        _ request: String,
        authorization: String? = nil,
        headers: [(String, String)] = [],
        _ payload: Payload = .none,
        status: Int = 200,
        message: String? = nil,
        contains: [String] = [],
        excludes: [String] = [],
        event: String? = nil
    ) {
        let words = request.split(separator: " ", maxSplits: 1).map(String.init)
        self.name = name
        method = words[0]
        target = words[1]
        self.headers = headers + (authorization.map { [("Authorization", $0)] } ?? [])
        self.payload = payload
        self.status = status
        self.message = message
        self.contains = contains
        self.excludes = excludes
        self.event = event
    }
}

extension Scenario.Payload {
    /// The parameters in each form that a body may have.
    ///
    /// - Parameter parameters: Names and values.
    /// - Returns: Each form with its name.
    static func allForms(of parameters: [(String, String)]) -> [(name: String, payload: Scenario.Payload)] {
        let json = jsonText(parameters)
        return [
            ("JSON", .json(json)),
            ("JSON with a charset", .raw(contentType: "application/json; charset=utf-8", Data(json.utf8))),
            ("JSON in capitals", .raw(contentType: "Application/JSON;charset=UTF-8", Data(json.utf8))),
            ("a form", .form(parameters)),
            (
                "a form with a charset",
                .raw(contentType: "application/x-www-form-urlencoded; charset=UTF-8", Data(formText(parameters).utf8))
            ),
            ("multipart", .multipart(parameters)),
        ]
    }

    /// A JSON object of strings, in order.
    static func jsonText(_ parameters: [(String, String)]) -> String {
        let members = parameters.map { name, value in
            var escaped = value.replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#)
            escaped = escaped.replacing("\r\n", with: #"\r\n"#).replacing("\n", with: #"\n"#)
            return "\"\(name)\":\"\(escaped)\""
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// URL-encoded pairs, in order.
    static func formText(_ parameters: [(String, String)]) -> String {
        parameters.map { "\($0)=\($1.formEncoded)" }.joined(separator: "&")
    }

    private static let boundary = "scenario-boundary"

    /// The value of `Content-Type`, and the bytes.
    var encoded: (contentType: String, body: Data)? {
        switch self {
        case .none: nil
        case .form(let parameters):
            ("application/x-www-form-urlencoded", Data(Self.formText(parameters).utf8))
        case .json(let text): ("application/json", Data(text.utf8))
        case .multipart(let parameters):
            (
                "multipart/form-data; boundary=\(Self.boundary)",
                Data(
                    (parameters.map { name, value in
                        "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
                    }.joined() + "--\(Self.boundary)--\r\n").utf8
                )
            )
        case .raw(let contentType, let body): (contentType, body)
        }
    }
}
