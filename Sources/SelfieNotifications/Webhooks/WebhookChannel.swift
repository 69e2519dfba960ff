import Curl
package import Deliveries
import FoundationEssentials
import JSON
package import Logging
package import Postgres
package import Webhooks

/// Sends events to webhooks.
package struct WebhookChannel: DeliveryChannel {
    /// Where events go.
    package enum Route: Sendable {
        case receivers(WebhookSender)
        /// Into a folder, for development.
        case outbox(Outbox)
    }

    private let store: WebhookStore
    private let events: EventReader
    private let route: Route
    private let logger: Logger

    package init(
        store: WebhookStore,
        postgres: PostgresClient,
        route: Route,
        logger: Logger
    ) {
        (self.store, self.route, self.logger) = (store, route, logger)
        events = EventReader(postgres: postgres)
    }

    package var name: DeliveryChannelName { .webhook }

    package func send(_ delivery: Delivery) async -> DeliveryOutcome {
        guard let id = delivery.target.split(separator: ":").last.flatMap({ Int($0) }),
            let event = try? JSONDecoder().decode(WebhookEvent.self, from: Data(delivery.cause.utf8))
        else { return .refused(reason: "unknown_cause") }
        do {
            guard let receiver = try await store.receiver(id) else { return .pointless }
            let body = try await events.body(of: event, at: delivery.createdAt, isFull: receiver.isFull)
            switch route {
            case .outbox(let outbox):
                try outbox.write(
                    body.utf8,
                    id: delivery.id,
                    at: Date(),
                    kind: event.type,
                    type: "json",
                    announcing: "webhook \(id): \(event.type)"
                )
                return .sent
            case .receivers(let sender):
                return try await send(body, of: delivery, to: receiver, webhook: id, by: sender)
            }
        } catch is PostgresError {
            return .notNow(reason: "database")
        } catch is WebhookStore.OtherSecret {
            return .notNow(reason: "secret_changed")
        } catch {
            return .notNow(reason: "failed")
        }
    }

    private func send(
        _ body: String,
        of delivery: Delivery,
        to receiver: WebhookStore.Receiver,
        webhook id: Int,
        by sender: WebhookSender
    ) async throws -> DeliveryOutcome {
        let answer: WebhookSender.Answer
        do {
            answer = try await sender.send(
                id: delivery.id,
                body: body,
                to: receiver.url,
                secrets: receiver.secrets
            )
        } catch let failure as CurlFailure {
            return try await failed(id, receiver, .notNow(reason: "\(failure.reason)"))
        }
        switch answer.status {
        case 200..<300:
            // It was taken, whatever becomes of the note.
            try? await store.noteSuccess(id)
            return .sent
        case 410:
            if try await store.disable(id, because: .gone) { log(id, receiver, "its receiver answered 410") }
            return .refused(reason: "410")
        default:
            return try await failed(id, receiver, .notNow(reason: "\(answer.status)", retryAfter: answer.retryAfter))
        }
    }

    private func failed(
        _ id: Int,
        _ receiver: WebhookStore.Receiver,
        _ outcome: DeliveryOutcome
    ) async throws -> DeliveryOutcome {
        if try await store.noteFailure(id) { log(id, receiver, "nothing but failures for days") }
        return outcome
    }

    private func log(_ id: Int, _ receiver: WebhookStore.Receiver, _ reason: String) {
        logger.warning(
            "a webhook was disabled",
            metadata: ["webhook": "\(id)", "host": "\(receiver.url.host)", "reason": "\(reason)"]
        )
    }
}

/// The cause of an event, as the function `tell_webhooks` writes it.
struct WebhookEvent: Decodable {
    let type: String
    let data: Subject

    /// What it is about.
    struct Subject: Decodable {
        let collection: String
        let id: String
        /// A member's id; nil for one that is gone.
        let owner: String?
        /// nil for users, who have none.
        let version: Int?
        /// The row of a record; nil for others.
        let key: Int?
    }
}
