import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import TestSupport

/// The account of a user of a cluster, with its sessions and its profile.
struct ClusterAccount {
    private var password: String
    /// Tokens that must never be accepted again.
    private var endedTokens: [String] = []
    private var title = ""

    /// The call whose answer begins before all of it was read.
    static let export = "export"
    /// What a run must have had, beside the calls of railsauth.
    static let calls = ["change profile", "profile", "sessions", export, "delete account", "signin to no account"]

    init(number: Int) { password = "my password \(number)" }

    /// Makes the account, and begins a session.
    func join(_ client: inout ClusterClient) async throws {
        let up = try await send("signup", "/api/signup", extra: ["full_name": "\(client.name) Lovelace"], client)
        if !up.isRepeated || up.answer.message?.contains("taken") != true { client.expect(up, "signup") }
        try await signIn(&client)
    }

    /// Sends a call about the account, with the address and the password.
    private func send(
        _ call: String,
        _ path: String,
        method: String = "POST",
        extra: [String: String] = [:],
        _ client: ClusterClient
    ) async throws -> ClusterCalls.Settled {
        var fields = ["email": "\(client.name)@example.com", "password": try TestService.encrypt(password)]
        fields.merge(extra) { $1 }
        let json = String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
        return try await client.settle(
            call,
            method,
            path,
            headers: [("Authorization", TestService.basic)],
            json: json
        )
    }

    private func signIn(_ client: inout ClusterClient) async throws {
        let call = Bool.random(using: &client.generator) ? ("signin", "POST") : ("get_token", "GET")
        let settled = try await send(call.0, "/api/\(call.0)", method: call.1, client)
        client.expect(settled, call.0)
        if let token = settled.answer.json["api_authtoken"] as? String { client.token = token }
    }

    mutating func renewSession(_ client: inout ClusterClient) async throws {
        let old = client.token
        try await signIn(&client)
        let settled = try await client.settle("clear_token", "POST", "/api/clear_token", token: old)
        client.expect(settled, "clear_token", allows: settled.isRepeated ? [401] : [])
        endedTokens = endedTokens.suffix(20) + [old]
    }

    mutating func changePassword(_ client: inout ClusterClient) async throws {
        let next = "my password \(client.number) \(client.next())"
        let json = """
            {"old_password":"\(try TestService.encrypt(password))","new_password":"\(try TestService.encrypt(next))"}
            """
        let settled = try await client.settle("reset_password", "POST", "/api/reset_password", json: json)
        let ended = client.token
        password = next
        if let token = settled.answer.json["api_authtoken"] as? String, settled.answer.status == 200 {
            client.token = token
        } else if settled.isRepeated {
            // A lost answer: the session has ended, and the new password counts.
            try await signIn(&client)
        } else {
            client.expect(settled, "reset_password")
        }
        endedTokens = endedTokens.suffix(20) + [ended]
    }

    func useEndedToken(_ client: inout ClusterClient) async throws {
        guard let ended = endedTokens.randomElement(using: &client.generator) else { return }
        try await expectEnded(ended, client)
    }

    private func expectEnded(_ token: String, _ client: ClusterClient) async throws {
        let settled = try await client.settle("ended token", "GET", "/api/get_photos", token: token)
        client.expect(settled.answer.status == 401, "an ended session was answered with \(settled.answer.status)")
    }

    mutating func changeProfile(_ client: inout ClusterClient) async throws {
        title = "title \(client.next())"
        _ = try await client.succeed("change profile", "PATCH", "/api/me", json: #"{"title":"\#(title)"}"#)
        let answer = try await profile(client)
        client.expect(answer.json["title"] as? String == title, "the profile is \(answer.text) and not \(title)")
        let email = answer.json["email"] as? String
        client.expect(email == "\(client.name)@example.com", "the profile is somebody else's: \(answer.text)")
    }

    /// The user's profile, which has the id that others see.
    func profile(_ client: ClusterClient) async throws -> HTTPAnswer {
        try await client.succeed("profile", "GET", "/api/me").answer
    }

    func listSessions(_ client: ClusterClient) async throws {
        _ = try await client.succeed("sessions", "GET", "/api/sessions")
    }

    func export(_ client: ClusterClient) async throws {
        let answer = try await client.succeed(Self.export, "GET", "/api/export").answer
        client.expect(answer.body.starts(with: Data("PK".utf8)), "the export is no archive")
    }

    /// Deletes the account, and expects that nobody gets into it any more.
    mutating func delete(_ client: ClusterClient) async throws {
        let json = #"{"password":"\#(try TestService.encrypt(password))"}"#
        // After a lost answer, there is no session any more.
        _ = try await client.succeed("delete account", "DELETE", "/api/account", json: json, allows: [401])
        try await expectEnded(client.token, client)
        endedTokens = endedTokens.suffix(20) + [client.token]
        let settled = try await send("signin to no account", "/api/signin", client)
        // 403 while its records are being deleted.
        let status = settled.answer.status
        client.expect([401, 403].contains(status), "a deleted account was answered with \(status)")
        title = ""
    }

    /// Expects that no ended session is accepted.
    func expectAllEnded(_ client: ClusterClient) async throws {
        for token in endedTokens { try await expectEnded(token, client) }
    }
}
