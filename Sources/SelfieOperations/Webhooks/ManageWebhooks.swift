import FoundationEssentials
package import Postgres
package import SelfieConfiguration
package import SelfieNotifications
import Webhooks

/// Everything that the command line does with webhooks.
package struct ManageWebhooks: Sendable {
    private let postgres: PostgresClient
    private let store: WebhookStore
    private let settings: Settings

    /// What it needs of the settings.
    package struct Settings: Sendable {
        let secret: String
        let networks: WebhookNetworks

        /// - Parameter source: The settings.
        /// - Throws: `ConfigurationError`.
        package init(_ source: ConfigurationSource) throws {
            (secret, networks) = try source.read { settings in
                let networks = settings.webhookNetworks()
                return settings.secretKeyBase().map { ($0, networks) }
            }
        }
    }

    /// Why a command can't be run.
    package enum Failure: Error, Equatable {
        case malformedURL
        /// Without TLS, `WEBHOOK_NETWORKS` must name the network.
        case unencrypted
        case events(WebhookEvents.Problem)
        case tooMany
        case noSuchWebhook
        /// Its secret was sealed with another `SECRET_KEY_BASE`.
        case otherSecret
    }

    /// Runs a body with a database.
    ///
    /// - Throws: What the body throws, `AdministrationError.notMigrated` or `.unreachable`.
    package static func with<Result>(
        _ configuration: PostgresConfiguration,
        _ settings: Settings,
        _ body: (ManageWebhooks) async throws -> Result
    ) async throws -> Result {
        try await Administration.with(configuration) { administration in
            let postgres = administration.postgres
            let store = WebhookStore(postgres: postgres, secret: settings.secret)
            return try await body(ManageWebhooks(postgres: postgres, store: store, settings: settings))
        }
    }

    /// Adds a webhook.
    ///
    /// - Parameters:
    ///   - url: The URL of its receiver.
    ///   - events: Such as `houses,photos.created`.
    ///   - isFull: Whether it gets what an event is about, too.
    /// - Returns: Its id, and its secret.
    /// - Throws: ``Failure``, `PostgresError`.
    package func add(_ url: String, events: String, isFull: Bool) async throws -> (id: Int, secret: String) {
        guard let url = WebhookURL(url) else { throw Failure.malformedURL }
        guard url.isEncrypted || settings.networks.namesAny else { throw Failure.unencrypted }
        let names = try await postgres.read("SELECT name FROM collections").map { row in
            try row.decode("name", as: String.self)
        }
        let list: [String]
        do throws(WebhookEvents.Problem) {
            list = try WebhookEvents.read(events, collections: Set(names))
        } catch {
            throw Failure.events(error)
        }
        guard let (id, secret) = try await store.add(url, events: list, isFull: isFull) else { throw Failure.tooMany }
        return (id, secret.text)
    }

    /// All webhooks.
    package func list() async throws -> [Webhook] { try await store.list() }

    /// One webhook.
    ///
    /// - Throws: ``Failure/noSuchWebhook``, `PostgresError`.
    package func find(_ id: Int) async throws -> Webhook {
        guard let webhook = try await store.find(id) else { throw Failure.noSuchWebhook }
        return webhook
    }

    /// Disables a webhook.
    ///
    /// - Returns: Whether it was enabled.
    /// - Throws: ``Failure/noSuchWebhook``, `PostgresError`.
    package func disable(_ id: Int) async throws -> Bool {
        _ = try await find(id)
        return try await store.disable(id, because: .byHand)
    }

    /// Enables a webhook.
    ///
    /// - Returns: Whether it was disabled.
    /// - Throws: ``Failure/noSuchWebhook``, `PostgresError`.
    package func enable(_ id: Int) async throws -> Bool {
        _ = try await find(id)
        return try await store.enable(id)
    }

    /// Gives a webhook another secret.
    ///
    /// - Returns: The secret.
    /// - Throws: ``Failure/noSuchWebhook``, `PostgresError`.
    package func rotate(_ id: Int) async throws -> String {
        guard let secret = try await store.rotate(id) else { throw Failure.noSuchWebhook }
        return secret.text
    }

    /// Removes a webhook, and what waits for it.
    ///
    /// - Throws: ``Failure/noSuchWebhook``, `PostgresError`.
    package func remove(_ id: Int) async throws {
        guard try await store.remove(id) else { throw Failure.noSuchWebhook }
    }

    /// Sends the event `test` at once.
    ///
    /// - Parameter id: The webhook, which may be disabled.
    /// - Returns: The status that the receiver answered.
    /// - Throws: ``Failure``, `CurlFailure` when there is no answer, `PostgresError`.
    package func test(_ id: Int) async throws -> Int {
        let secrets = try await secrets(id)
        guard let url = WebhookURL(try await find(id).url) else { throw Failure.malformedURL }
        let answer = try await WebhookSender(networks: settings.networks).send(
            id: UUID(),
            body: WebhookEvents.testBody(at: Date()),
            to: url,
            secrets: secrets
        )
        return answer.status
    }

    private func secrets(_ id: Int) async throws -> [WebhookSecret] {
        do {
            guard let secrets = try await store.secrets(id) else { throw Failure.noSuchWebhook }
            return secrets
        } catch is WebhookStore.OtherSecret {
            throw Failure.otherSecret
        }
    }
}
