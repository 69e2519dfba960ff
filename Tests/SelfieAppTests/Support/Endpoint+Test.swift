import Encodings
import Foundation
import HTTPTypes
import JSON
import ServiceTestSupport
import TestSupport

@testable import SelfieWeb

extension Endpoint {
    /// Method and path, as a scenario has them.
    var call: String { "\(method.rawValue) \(examplePath)" }

    /// The path, with something in place of what it leaves open.
    var examplePath: String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "1" : String($0) }.joined(separator: "/")
    }

    /// The headers of a client that may call.
    func credentials(token: String) -> [(String, String)] {
        switch authentication {
        case .public: []
        case .basic: [("Authorization", TestService.basic)]
        case .token: [("Authorization", tokenHeader(token))]
        case .dreamFactory: [("X-DreamFactory-Session-Token", token)]
        case .ownPage: [("Sec-Fetch-Site", "same-origin")]
        case .cookie: [("Sec-Fetch-Site", "same-origin"), ("Cookie", "selfie=\(token)")]
        }
    }

    /// The parameters of a body.
    var bodyParameters: [Parameter] { parameters.filter { [.anywhere, .multipart].contains($0.location) } }

    /// A body with all parameters.
    ///
    /// - Parameters:
    ///   - values: The values of some; the others are valid.
    ///   - left: The name of one that is left out.
    /// - Returns: The body.
    /// - Throws: An error of the encryption.
    func payload(_ values: [String: String] = [:], without left: String? = nil) throws -> Scenario.Payload {
        if let body { return .json(body.example.text) }
        var parts: [TestMultipart.Part] = []
        // A value from an earlier answer can't be made up.
        for parameter in bodyParameters
        where parameter.name != left && (parameter.isRequired || !parameter.kind.isFromAnswer) {
            let value = try values[parameter.name] ?? parameter.validValue
            parts.append(
                parameter.kind == .photo
                    ? TestMultipart.Part(name: parameter.name, fileName: "photo", TestImage.png(bytes: 64))
                    : TestMultipart.Part(name: parameter.name, Data(value.utf8))
            )
        }
        return .raw(contentType: TestMultipart.contentType, TestMultipart.body(parts))
    }

    /// Whether a request without any parameter is refused.
    var needsParameters: Bool { bodyParameters.contains(where: \.isRequired) }

    /// Whether it takes a body.
    var takesBody: Bool { body != nil || !bodyParameters.isEmpty }

    /// The calls of some kinds.
    static func calls(_ kinds: Authentication...) -> [String] {
        Routes.endpoints.filter { kinds.contains($0.authentication) }.map(\.call)
    }

    /// What each path answers to; any other method is unknown there.
    static let methods: [String: Set<String>] = Dictionary(
        Routes.endpoints.map { endpoint in
            let method = endpoint.method.rawValue
            return (endpoint.examplePath, method == "GET" ? ["GET", "HEAD"] : [method])
        },
        uniquingKeysWith: { $0.union($1) }
    )
}

extension Endpoint.Parameter.Kind {
    /// Whether a value comes from an earlier answer, or from a mail.
    fileprivate var isFromAnswer: Bool {
        switch self {
        case .id, .code: true
        default: false
        }
    }
}

extension Endpoint.Parameter {
    /// The parameter beside which this one does not count.
    var rival: String? { ["first_name", "last_name"].contains(name) ? "full_name" : nil }

    /// A value that breaks no rule.
    fileprivate var validValue: String {
        get throws {
            switch kind {
            case .text(maxCharacters: nil): "ada@example.com"
            case .email: "\(UInt64.random(in: 0...(.max)))@example.com"
            case .text, .lines: "An example"
            case .json: "{}"
            case .line, .id, .signature, .photo: "example"
            case .encryptedPassword, .encryptedNewPassword: try TestService.encrypt("my password")
            case .typedPassword, .typedNewPassword: "my password"
            case .code: "123456"
            case .flag: "false"
            case .integer(let range): "\(range.upperBound)"
            case .word(let words): words[0]
            }
        }
    }

    /// The longest and the shortest values that its description allows, and the refusals of one more or one less.
    var bounds: [(allowed: String, refused: String, problem: String)] {
        get throws {
            switch kind {
            case .text(maxCharacters: let max?), .lines(maxCharacters: let max), .line(maxCharacters: let max),
                .email(maxCharacters: let max):
                let end = name == "email" ? "\(UInt64.random(in: 0...(.max)))@example.com" : ""
                let allowed = String(repeating: "é", count: max - end.count) + end
                return [(allowed, "é" + allowed, "is too long (maximum is \(max) characters)")]
            case .encryptedNewPassword(minCharacters: let min, maxBytes: let max):
                let long = String(repeating: "a", count: max)
                let short = String(repeating: "é", count: min)
                return try Self.bounds(short: short, long: long, min: min, max: max, TestService.encrypt)
            case .typedNewPassword(minCharacters: let min, maxBytes: let max):
                let long = String(repeating: "a", count: max)
                let short = String(repeating: "é", count: min)
                return Self.bounds(short: short, long: long, min: min, max: max) { $0 }
            case .integer(let range):
                return [
                    ("\(range.lowerBound)", "\(range.lowerBound - 1)", "\(name) - is invalid (a whole number from "),
                    ("\(range.upperBound)", "\(range.upperBound + 1)", "\(name) - is invalid (a whole number from "),
                ]
            case .json(let max):
                let allowed = #"{"a":"\#(String(repeating: "é", count: (max - 8) / 2))"}"#
                return [(allowed, allowed.replacing("\"a\"", with: "\"aa\""), "is too long (maximum is \(max) bytes)")]
            case .word(let words): return words.map { ($0, $0.capitalized, "\(name) - is invalid (") }
            case .text(maxCharacters: nil), .encryptedPassword, .typedPassword, .code, .flag, .id, .signature, .photo:
                return []
            }
        }
    }

    private static func bounds(
        short: String,
        long: String,
        min: Int,
        max: Int,
        _ sent: (String) throws -> String
    ) rethrows -> [(allowed: String, refused: String, problem: String)] {
        [
            (try sent(long), try sent("a" + long), "is too long (maximum is \(max) bytes)"),
            (try sent(short), try sent(String(short.dropLast())), "is too short (minimum is \(min) characters)"),
        ]
    }
}
