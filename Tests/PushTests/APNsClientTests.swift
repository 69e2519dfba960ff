import Cryptography
import Curl
import Encodings
import Foundation
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import Push

@Suite("Pushes to Apple", .timeLimit(.minutes(2)))
struct APNsClientTests {
    private static func client(_ peer: PushPeer) -> APNsClient {
        var connections = CurlConfiguration(environment: [:])
        connections.trust = .file(path: peer.authorityPath)
        return APNsClient(origin: peer.origin, connections: connections)
    }

    private static func request(_ token: String = "ab12", kind: APNsRequest.Kind = .alert) -> APNsRequest {
        APNsRequest(
            id: UUID(),
            deviceToken: token,
            topic: "com.example.app",
            kind: kind,
            collapseID: "thread-1",
            payload: #"{"aps":{"alert":"Hello"}}"#,
            expiresAt: Date(timeIntervalSince1970: 1_800_000_000)
        )
    }

    @Test("A push arrives by HTTP/2 with all its headers")
    func headers() async throws {
        try await PushPeer.with { peer in
            let request = Self.request()
            let answer = try await Self.client(peer).send(request, token: "a.b.c")
            #expect(answer.verdict == .accepted)
            _ = try await Self.client(peer).send(Self.request(kind: .background), token: "a.b.c")
            let received = try peer.requests()
            #expect(received[0].path == "/3/device/ab12" && received[0].body == request.payload)
            let expected = [
                "authorization": "bearer a.b.c", "apns-id": request.id.uuidString.lowercased(),
                "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10",
                "apns-expiration": "1800000000", "apns-collapse-id": "thread-1",
            ]
            #expect(received[0].headers.filter { expected[$0.key] != nil } == expected)
            #expect(
                received[1].headers["apns-push-type"] == "background" && received[1].headers["apns-priority"] == "5"
            )
        }
    }

    @Test(
        "What each answer means",
        arguments: [
            (#"{"status": 400, "reason": "BadDeviceToken"}"#, APNsAnswer.Verdict.otherEnvironment),
            (#"{"status": 400, "reason": "DeviceTokenNotForTopic"}"#, .otherApp),
            (#"{"status": 400, "reason": "PayloadEmpty"}"#, .refused),
            (#"{"status": 413, "reason": "PayloadTooLarge"}"#, .refused),
            (#"{"status": 403, "reason": "ExpiredProviderToken"}"#, .expiredToken),
            (#"{"status": 403, "reason": "InvalidProviderToken"}"#, .notNow),
            (#"{"status": 404, "reason": "BadPath"}"#, .refused),
            (
                #"{"status": 410, "reason": "Unregistered", "timestamp": 1795805003500}"#,
                .gone(since: Date(timeIntervalSince1970: 1795805003.5))
            ),
            (#"{"status": 410}"#, .notNow), (#"{"status": 429, "reason": "TooManyRequests"}"#, .notNow),
            (#"{"status": 429}"#, .notNow), (#"{"status": 500}"#, .notNow),
            (#"{"status": 503, "reason": "Shutdown", "headers": {"retry-after": "7"}}"#, .notNow),
        ]
    )
    func verdicts(answer: String, verdict: APNsAnswer.Verdict) async throws {
        try await PushPeer.with { peer in
            try peer.follow(#"{"all": [\#(answer)]}"#)
            let read = try await Self.client(peer).send(Self.request(), token: "a.b.c")
            #expect(read.verdict == verdict)
            #expect(read.retryAfter == (read.status == 503 ? .seconds(7) : nil))
        }
    }

    @Test("1,000 pushes at once share two connections at most")
    func shared() async throws {
        try await PushPeer.with { peer in
            let client = Self.client(peer)
            let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<1_000 {
                    group.addTask {
                        try await client.send(Self.request("\(number)"), token: "a.b.c").verdict == .accepted
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(accepted == 1_000)
            let received = try peer.requests()
            #expect(Set(received.map(\.path)).count == 1_000 && received.count == 1_000)
            #expect(Set(received.map(\.connection)).count <= 2)
        }
    }

    @Test(
        "A connection that got a GOAWAY, or died, or was silent, is not used again",
        arguments: [#""goaway": 3"#, #""dies": 3"#, #""devices": {"2": ["silence"]}"#]
    )
    func left(rule: String) async throws {
        try await PushPeer.with { peer in
            try peer.follow("{\(rule)}")
            var client = Self.client(peer)
            client.maxSendTime = .seconds(1)
            var outcomes: [Bool] = []
            for number in 0..<12 {
                let answer = try? await client.send(Self.request("\(number)"), token: "a.b.c")
                outcomes.append(answer?.verdict == .accepted)
                if rule.contains("goaway"), number == 2 { try await Task.sleep(for: .milliseconds(50)) }
            }
            let received = try peer.requests()
            let failures = outcomes.count { !$0 }
            #expect(failures <= (rule.contains("silence") ? 1 : 4), "\(outcomes)")
            // Behind the failure, another connection is used.
            let first = try #require(received.first?.connection)
            #expect(received.last?.connection != first)
            if rule.contains("silence") {
                let silent = try #require(received.first { $0.path.hasSuffix("/2") })
                #expect(received.filter { $0.time > silent.time }.allSatisfy { $0.connection != silent.connection })
            }
        }
    }

    @Test("A provider token is signed for Apple")
    func token() async throws {
        try await TemporaryFolder.with { folder in
            let (key, publicKey) = (folder.appending(path: "key.p8"), folder.appending(path: "public.pem"))
            let openssl = URL(filePath: "/usr/bin/openssl")
            for arguments in [
                ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key.path],
                ["pkey", "-in", key.path, "-pubout", "-out", publicKey.path],
            ] {
                let outcome = try await ProgramOutcome.run(openssl, arguments, directory: folder)
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            let apns = try APNsKey(
                pem: String(contentsOf: key, encoding: .utf8),
                id: "ABC123DEFG",
                teamID: "DEF123GHIJ"
            )
            let parts = try apns.token(at: Date(timeIntervalSince1970: 1_795_805_003)).split(separator: ".").map(
                String.init
            )
            let texts = try parts.prefix(2).map { part in
                String(decoding: try #require(Base64URL.bytes(of: part)), as: UTF8.self)
            }
            #expect(texts == [#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1795805003}"#])
            let signature = try #require(Base64URL.bytes(of: parts[2]))
            let verifier = try PublicKey<ES256>(pem: Array(try Data(contentsOf: publicKey)))
            #expect(verifier.isSignature(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
            #expect(throws: CryptographyError.self) { try APNsKey(pem: "no key", id: "a", teamID: "b") }
        }
    }
}
