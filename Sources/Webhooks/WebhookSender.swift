package import Curl
package import FoundationEssentials
import NIOCore
import NIOHTTP1

/// Sends requests to the receivers of webhooks.
package struct WebhookSender: Sendable {
    private let encrypted: CurlClient
    private let plain: CurlClient

    /// How long a receiver may take, from the look-up of its name to its status.
    package var maxSendTime: Duration = .seconds(15)

    /// What a receiver has said.
    package struct Answer: Sendable {
        package let status: Int
        /// How long it asks to wait (RFC 9110, section 10.2.3), if it gives a number of seconds.
        package let retryAfter: Duration?
    }

    /// - Parameters:
    ///   - networks: Where requests may go.
    ///   - connections: How connections are made. Its proxies are not used: with one, nobody would see the address that is
    ///     connected to.
    package init(networks: WebhookNetworks, connections: CurlConfiguration = CurlConfiguration()) {
        let clients = [true, false].map { isEncrypted in
            var connections = connections
            connections.proxies = .none
            connections.isAllowed = { networks.allow($0, isEncrypted: isEncrypted) }
            return CurlClient(connections)
        }
        (encrypted, plain) = (clients[0], clients[1])
    }

    /// Looks whether a receiver can be reached, by a request without an event.
    ///
    /// - Throws: `CurlFailure` when there is no answer.
    package func reach(_ url: WebhookURL) async throws {
        var request = CurlRequest(url: url.text)
        request.method = .HEAD
        request.headers = ["User-Agent": "Selfie"]
        try await client(for: url).perform(request, deadlines: CurlDeadlines(within: maxSendTime)) { _ in }
    }

    private func client(for url: WebhookURL) -> CurlClient { url.isEncrypted ? encrypted : plain }

    /// Sends an event.
    ///
    /// No redirect is followed. The answer's body is not read.
    ///
    /// - Parameters:
    ///   - id: The event's id, the same in all tries.
    ///   - body: JSON.
    ///   - url: The receiver.
    ///   - secrets: What it is signed with: several while a new one replaces an old one.
    ///   - time: The time of the try.
    /// - Returns: The answer.
    /// - Throws: `CurlFailure` when there is none.
    package func send(
        id: UUID,
        body: String,
        to url: WebhookURL,
        secrets: [WebhookSecret],
        at time: Date = Date()
    ) async throws -> Answer {
        let id = id.uuidString.lowercased()
        let timestamp = Int(time.timeIntervalSince1970)
        var request = CurlRequest(url: url.text)
        request.method = .POST
        request.headers = [
            "Content-Type": "application/json",
            "User-Agent": "Selfie",
            "webhook-id": id,
            "webhook-timestamp": "\(timestamp)",
            "webhook-signature": secrets.map { $0.signature(id: id, timestamp: timestamp, body: body) }
                .joined(separator: " "),
        ]
        request.body = .bytes(ByteBuffer(string: body))
        return try await client(for: url)
            .perform(request, deadlines: CurlDeadlines(within: maxSendTime)) { response in
                let seconds = response.headers.first(name: "Retry-After").flatMap { Int($0) }
                return Answer(
                    status: Int(response.status.code),
                    retryAfter: seconds.flatMap { $0 > 0 ? .seconds($0) : nil }
                )
            }
    }
}
