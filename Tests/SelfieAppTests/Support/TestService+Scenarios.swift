import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieWeb

extension TestService {
    /// Checks scenarios one after another.
    func check(_ scenarios: [Scenario], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for scenario in scenarios { try await check(scenario, sourceLocation: sourceLocation) }
    }

    /// Sends a scenario's request and checks its answer: status, body, the manners of every answer, and that a
    /// refusal, or a HEAD, changes no row and no object.
    @discardableResult
    func check(_ scenario: Scenario, sourceLocation: SourceLocation = #_sourceLocation) async throws -> HTTPAnswer {
        let (before, eventsBefore) = (try await state(), try await events())
        let payload = scenario.payload.encoded
        let answer = try await send(
            scenario.method,
            scenario.target,
            headers: scenario.headers + (payload.map { [("Content-Type", $0.contentType)] } ?? []),
            body: payload?.body
        )
        let comment = Comment(rawValue: "\(scenario.name): \(answer.status) \(answer.text.prefix(600))")
        #expect(answer.status == scenario.status, comment, sourceLocation: sourceLocation)
        let isHead = scenario.method == "HEAD"
        Self.expectManners(of: answer, isHead: isHead, comment, sourceLocation: sourceLocation)
        if let message = scenario.message, !isHead {
            let body =
                scenario.target.hasPrefix("/rest/")
                ? #"{"error":[{"message":"\#(message)","code":\#(scenario.status)}]}"#
                : Self.body(status: scenario.status, message: message, code: answer.json["code"] as? String)
            // What is missing is named behind the contract's members.
            let isSame =
                answer.code == "parameters_missing" ? answer.text.hasPrefix(body.dropLast()) : answer.text == body
            #expect(isSame, "\(comment): \(answer.text)", sourceLocation: sourceLocation)
        }
        if Endpoint.of(method: scenario.method, target: scenario.target) == nil {
            #expect(answer.status == 404, comment, sourceLocation: sourceLocation)
        }
        for text in scenario.contains {
            #expect(answer.text.contains(text), "\(comment) lacks \(text)", sourceLocation: sourceLocation)
        }
        for text in scenario.excludes {
            #expect(!answer.text.contains(text), "\(comment) has \(text)", sourceLocation: sourceLocation)
        }
        if answer.status >= 300 || isHead {
            #expect(try await state() == before, "\(comment) changed something", sourceLocation: sourceLocation)
            let events = try await events()
            let added = events.difference(from: eventsBefore).map { change in
                if case .insert(_, let event, _) = change { event } else { "a lost event" }
            }
            #expect(
                added == (scenario.event.map { [$0] } ?? []),
                "\(comment) was noted otherwise",
                sourceLocation: sourceLocation
            )
        }
        return answer
    }

    /// The body of an answer with a message, to the letter.
    private static func body(status: Int, message: String, code: String?) -> String {
        #"{"status":\#(status),"message":"\#(message)""# + (code.map { #","code":"\#($0)""# } ?? "") + "}"
    }

    /// What holds for every answer, whatever it says.
    static func expectManners(
        of answer: HTTPAnswer,
        isHead: Bool = false,
        _ comment: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let headers = answer.headers
        #expect(
            headers["x-request-id"]?.wholeMatch(of: /[A-Za-z0-9-]{1,255}/) != nil,
            comment,
            sourceLocation: sourceLocation
        )
        #expect(headers["x-content-type-options"] == "nosniff", comment, sourceLocation: sourceLocation)
        if answer.text.contains(#""api_authtoken":""#) {
            #expect(headers["cache-control"] == "no-store", comment, sourceLocation: sourceLocation)
        }
        if answer.status >= 400 {
            #expect(
                headers["content-type"]?.hasPrefix("application/json") == true,
                comment,
                sourceLocation: sourceLocation
            )
            if isHead {
                #expect(answer.body.isEmpty, comment, sourceLocation: sourceLocation)
            } else {
                #expect(answer.message?.isEmpty == false, comment, sourceLocation: sourceLocation)
                // DreamFactory's routes have another form, which each answer is checked for.
                guard answer.json["error"] == nil else { return }
                #expect(answer.json["status"] as? Int == answer.status, comment, sourceLocation: sourceLocation)
                #expect(answer.json["code"] is String, comment, sourceLocation: sourceLocation)
                #expect(answer.hasRefusalsMembers, comment, sourceLocation: sourceLocation)
            }
        }
    }

    /// All rows but those of the audit, and the keys of all objects, in a form that shows any change.
    ///
    /// When a session was last used is left out, since it is noted some time after.
    func state() async throws -> String {
        let rows = try await postgres.read(
            """
            SELECT concat_ws(
                E'\n',
                (SELECT string_agg(users::text, E'\n' ORDER BY id) FROM users),
                (SELECT string_agg((to_jsonb(sessions) - 'last_used_at')::text, E'\n' ORDER BY id) FROM sessions),
                (SELECT string_agg(photos::text, E'\n' ORDER BY id) FROM photos),
                (SELECT string_agg(object_deletions::text, E'\n' ORDER BY random_id) FROM object_deletions),
                (SELECT string_agg(known_addresses::text, E'\n' ORDER BY user_id, network) FROM known_addresses),
                (SELECT string_agg(blocks::text, E'\n' ORDER BY user_id, blocked_user_id) FROM blocks),
                (SELECT string_agg(rate_limits::text, E'\n' ORDER BY key) FROM rate_limits)
            ) AS state
            """
        )
        let state: String? = try rows.first?.decodeIfPresent("state")
        return "\(state ?? "")\n\(objects.keys())"
    }

    /// The events of the audit, each as often as it is counted.
    func events() async throws -> [String] {
        let rows = try await postgres.read("SELECT event FROM audit_events, generate_series(1, count) ORDER BY id")
        return try rows.map { try $0.decode("event") }
    }

    /// Uploads a small photo and gives its id.
    func uploadPhoto(token: String, title: String = "My selfie") async throws -> String {
        let answer = try await upload(TestImage.png(bytes: 64), token: token, title: title)
        return try #require(answer.json["random_id"] as? String, "\(answer.text)")
    }

    /// Begins one more session of an account.
    func newToken(email: String = "ada@example.com", password: String = "my password") async throws -> String {
        let answer = try await signIn(email: email, password: password)
        return try #require(answer.json["api_authtoken"] as? String, "\(answer.text)")
    }

    /// The path and query of a URL of this service.
    func target(of url: String) throws -> String {
        try #require(url.hasPrefix(origin), "\(url)")
        return String(url.dropFirst(origin.count))
    }
}

/// `Token token=…`, as the reference client sends it.
func tokenHeader(_ token: String) -> String { "Token token=\(token)" }

/// The contract's refusals that many tests look for.
enum Refusal {
    static let missing = "required parameters are missing"
    static let wrongURL = "Wrong URL or HTTP method"
    static let basic = "HTTP Basic: Access denied."
    static let token = "HTTP Token: Access denied."
    static let wrongCredentials = "Wrong email or password"
    static let wrongPassword = "Wrong Password"
    static let photo = "Invalid Photo ID or You don't have permission to delete this photo!"
    static let passwordTooShort = "password - is too short (minimum is 6 characters),"
    static let passwordTooLong = "password - is too long (maximum is 72 bytes),"
    static let emailTaken = "email - has already been taken,"
}
