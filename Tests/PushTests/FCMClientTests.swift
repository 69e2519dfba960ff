import Cryptography
import Curl
import Foundation
import JSON
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import Push

@Suite("Pushes to Google", .timeLimit(.minutes(2)))
struct FCMClientTests {
    /// Runs a body with a client, whose account the peer knows.
    private static func run(_ body: (FCMClient, PushPeer) async throws -> Void) async throws {
        try await PushPeer.with { peer in
            let account = try FCMAccount(json: await peer.makeAccount())
            var connections = CurlConfiguration(environment: [:])
            connections.trust = .file(path: peer.authorityPath)
            try await body(FCMClient(account: account, origin: peer.origin, connections: connections), peer)
        }
    }

    private static func file(key: String, _ peer: PushPeer, without member: String? = nil) throws -> String {
        var members = [
            "project_id": "selfies", "client_email": "push@selfies.example", "private_key_id": "k1", "private_key": key,
            "token_uri": "\(peer.origin)/token",
        ]
        if let member { members[member] = nil }
        return String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
    }

    private static let message: JSONValue = ["token": "device-1", "data": ["id": "h1"]]

    @Test("An access token is fetched with a signed assertion, and pushes arrive with it")
    func arrives() async throws {
        try await Self.run { client, peer in
            let token = try await client.fetchToken(at: Date())
            #expect(token == "access-push@selfies.example")
            #expect(try await client.send(Self.message, token: token).verdict == .accepted)
            #expect(try await client.send(Self.message, token: token, isOnlyChecked: true).verdict == .accepted)
            let received = try peer.requests()
            #expect(
                received.map(\.path) == ["/token"] + Array(repeating: "/v1/projects/selfies/messages:send", count: 2)
            )
            #expect(received[1].headers["authorization"] == "Bearer \(token)")
            #expect(
                received[1...].map(\.body)
                    == [false, true].map { isTried in
                        #"{"validate_only":\#(isTried),"message":{"token":"device-1","data":{"id":"h1"}}}"#
                    }
            )
        }
    }

    @Test("A token that is refused, and a file that is no account, are named")
    func refused() async throws {
        try await Self.run { client, peer in
            try peer.follow(#"{"devices": {"token": [{"status": 400, "error": "invalid_grant"}]}}"#)
            await #expect(throws: FCMClient.TokenRefused(status: 400, code: "invalid_grant")) {
                try await client.fetchToken(at: Date())
            }
            for member in ["project_id", "client_email", "private_key_id", "private_key", "token_uri"] {
                let json = try Self.file(key: "a", peer, without: member)
                #expect(throws: FCMAccount.Problem.missing(member)) { try FCMAccount(json: json) }
            }
            let json = try Self.file(key: "-----BEGIN PRIVATE KEY-----", peer)
            #expect(throws: FCMAccount.Problem.key) { try FCMAccount(json: json) }
            #expect(throws: FCMAccount.Problem.notJSON) { try FCMAccount(json: "[]") }
        }
    }

    /// An error as Google's documentation shows it.
    private static func error(_ status: String, code: String? = nil, field: String? = nil) -> String {
        let fcm = code.map {
            #"{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "\#($0)"}"#
        }
        let violation = field.map {
            #"{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "\#($0)", "description": "a"}]}"#
        }
        let details = [fcm, violation].compactMap(\.self).joined(separator: ", ")
        return #"{"code": 400, "message": "a", "status": "\#(status)", "details": [\#(details)]}"#
    }

    @Test(
        "What each answer means",
        arguments: [
            (404, error("NOT_FOUND", code: "UNREGISTERED"), FCMAnswer.Verdict.gone),
            (404, error("NOT_FOUND"), .refused),
            (400, error("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", field: "message.token"), .gone),
            (400, error("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", field: "message.data"), .refused),
            (400, error("INVALID_ARGUMENT", code: "INVALID_ARGUMENT"), .refused),
            (401, error("UNAUTHENTICATED"), .expiredToken),
            (401, error("UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"), .notNow),
            (403, error("PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"), .gone),
            (403, error("PERMISSION_DENIED"), .notNow),
            (429, error("RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED"), .notNow), (500, error("INTERNAL"), .notNow),
            (503, error("UNAVAILABLE", code: "UNAVAILABLE"), .notNow), (429, #""?""#, .notNow),
        ]
    )
    func verdicts(status: Int, error: String, verdict: FCMAnswer.Verdict) async throws {
        try await Self.run { client, peer in
            let headers = status == 503 ? #", "headers": {"retry-after": "9"}"# : ""
            try peer.follow(#"{"all": [{"status": \#(status), "error": \#(error)\#(headers)}]}"#)
            let answer = try await client.send(Self.message, token: "a")
            #expect(answer.verdict == verdict)
            #expect(answer.retryAfter == (status == 503 ? .seconds(9) : nil))
        }
    }
}
