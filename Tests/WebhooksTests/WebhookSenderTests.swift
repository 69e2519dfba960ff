import Cryptography
import Curl
import Foundation
import NIOCore
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import Webhooks

@Suite("Requests to receivers", .timeLimit(.minutes(1)))
struct WebhookSenderTests {
    private static func sender(_ networks: String...) -> WebhookSender {
        WebhookSender(
            networks: WebhookNetworks(named: networks.compactMap { InternetNetwork($0) }),
            connections: CurlConfiguration(environment: [:])
        )
    }

    private static func send(_ url: String, by sender: WebhookSender) async throws -> WebhookSender.Answer {
        try await sender.send(
            id: UUID(),
            body: "{}",
            to: try #require(WebhookURL(url)),
            secrets: [WebhookSecret.make()]
        )
    }

    @Test(
        "No spelling of an address leads inside",
        arguments: [
            "localhost", "LOCALHOST.", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1",
            "0",
            "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]",
            "[::127.0.0.1]",
        ]
    )
    func inside(host: String) async throws {
        try await WebhookReceiver.with { receiver in
            for scheme in ["https", "http"] {
                let failure = await #expect(throws: CurlFailure.self) {
                    try await Self.send("\(scheme)://\(host):\(receiver.port)/", by: Self.sender())
                }
                let text = failure?.description ?? ""
                #expect(
                    [CurlError.addressNotAllowed, .unresolved].map(\.description).contains(text),
                    "\(host): \(text)"
                )
            }
            let requests = try receiver.requests()
            #expect(requests.isEmpty)
        }
    }

    @Test("Without TLS, a public address is not enough; a named network is, and no proxy leads elsewhere")
    func named() async throws {
        try await WebhookReceiver.with { receiver in
            let answer = try await Self.send(
                "http://[::ffff:127.0.0.1]:\(receiver.port)/",
                by: Self.sender("127.0.0.1")
            )
            #expect(answer.status == 200)
            let failure = await #expect(throws: CurlFailure.self) {
                try await Self.send("http://1.1.1.1/", by: Self.sender("127.0.0.1"))
            }
            #expect(failure?.description == CurlError.addressNotAllowed.description)
            // A proxy in a named network would lead to all others.
            let proxied = WebhookSender(
                networks: WebhookNetworks(named: [InternetNetwork("127.0.0.1")].compactMap(\.self)),
                connections: CurlConfiguration(environment: ["http_proxy": "http://127.0.0.1:\(receiver.port)"])
            )
            await #expect(throws: CurlFailure.self) { try await Self.send("http://10.1.1.1/", by: proxied) }
            #expect(try receiver.requests().count == 1)
        }
    }

    @Test("A receiver says how long to wait, and is not waited for longer than it may take")
    func answers() async throws {
        try await WebhookReceiver.with { receiver in
            var sender = Self.sender("127.0.0.1")
            try receiver.reply(.init(status: 429, headers: ["Retry-After": "7"]))
            let answer = try await Self.send(receiver.url, by: sender)
            #expect(answer.status == 429 && answer.retryAfter == .seconds(7))
            try receiver.reply(.init(status: 503, headers: ["Retry-After": "soon"]))
            #expect(try await Self.send(receiver.url, by: sender).retryAfter == nil)
            sender.maxSendTime = .zero
            let failure = await #expect(throws: CurlFailure.self) { try await Self.send(receiver.url, by: sender) }
            #expect(failure?.description == CurlError.overdue.description)
        }
    }

    @Test("The signature is that of the specification's example")
    func vector() throws {
        // Source: the example of the Standard Webhooks' reference libraries.
        let box = AESGCM(secret: "a", purpose: "b")
        let bytes = try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let secret = try WebhookSecret(sealed: try box.seal(Array(bytes)), by: box)
        #expect(secret.text == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: 1_614_265_330,
            body: #"{"test": 2432232314}"#
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }
}
