import ArgumentParser
import Curl
import SelfieConfiguration
import SelfieNotifications
import SelfieOperations

struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Have events sent to servers of your own.",
        discussion: """
            A running service sends an event to each webhook that is told of it, signed by the rules of Standard Webhooks. \
            DATABASE_URL and SECRET_KEY_BASE are needed. See docs/webhooks.md.
            """,
        subcommands: [
            AddWebhook.self, ListWebhooks.self, ShowWebhook.self, TestWebhook.self, DisableWebhook.self,
            EnableWebhook.self, RotateWebhook.self, RemoveWebhook.self,
        ]
    )
}

struct AddWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a webhook, and print its secret, which is shown once.",
        discussion: "The receiver needs the secret to verify that a request comes from this service."
    )

    @Argument(help: "The receiver, an https:// URL. http:// is for networks that WEBHOOK_NETWORKS names.")
    var url: String

    @Option(
        help: "What it is told of: collections, photos or users, or one of their changes: houses,photos.created,users."
    )
    var on: String

    @Flag(help: "Send the record, the photo's description or the user, too.")
    var full = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (id, secret) = try await Webhooks.run { try await $0.add(url, events: on, isFull: full) }
        try output.print(NewSecret(id: id, secret: secret)) {
            "Webhook \(id) is added. Its secret, which is not shown again:\n\(secret)"
        }
    }
}

struct ListWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List webhooks.")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let webhooks = try await Webhooks.run { try await $0.list() }
        try output.print(webhooks) {
            let rows = webhooks.map { webhook in
                [
                    "\(webhook.id)", webhook.url, webhook.events.joined(separator: ","), Webhooks.state(of: webhook),
                    "\(webhook.waitingCount)",
                ]
            }
            return TextTable.text([["ID", "URL", "EVENTS", "STATE", "WAITING"]] + rows, rightAligned: [0, 4])
        }
    }
}

struct ShowWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one webhook.")

    @OptionGroup var argument: WebhookArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let webhook = try await Webhooks.run { try await $0.find(argument.id) }
        try output.print(webhook) {
            let rows = [
                ["id", "\(webhook.id)"], ["url", Cell.text(webhook.url)],
                ["events", webhook.events.joined(separator: ",")], ["full", webhook.isFull ? "yes" : "no"],
                ["state", Webhooks.state(of: webhook)], ["waiting", "\(webhook.waitingCount)"],
                ["created", Cell.date(webhook.createdAt)], ["failing since", Cell.date(webhook.failingSince)],
                ["old secret until", Cell.date(webhook.formerSecretEndsAt)],
            ]
            return TextTable.text(rows.filter { !$0[1].isEmpty })
        }
    }
}

struct TestWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send the event test at once, and say what the receiver answered."
    )

    @OptionGroup var argument: WebhookArgument

    func run() async throws {
        let status = try await Webhooks.run { try await $0.test(argument.id) }
        guard (200..<300).contains(status) else { throw WebhookFailure("The receiver answered \(status).") }
        print("The receiver answered \(status).")
    }
}

struct DisableWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Tell a webhook of nothing until it is enabled.",
        discussion: """
            It is not told later of what happens meanwhile. What waits for it is dropped at its next try, unless it was \
            enabled before.
            """
    )

    @OptionGroup var argument: WebhookArgument

    func run() async throws {
        let isChanged = try await Webhooks.run { try await $0.disable(argument.id) }
        print("Webhook \(argument.id) \(isChanged ? "is" : "was already") disabled.")
    }
}

struct EnableWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Tell a webhook of events again."
    )

    @OptionGroup var argument: WebhookArgument

    func run() async throws {
        let isChanged = try await Webhooks.run { try await $0.enable(argument.id) }
        print("Webhook \(argument.id) \(isChanged ? "is" : "was already") enabled.")
    }
}

struct RotateWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a webhook another secret, and print it, which is shown once.",
        discussion: "For a day, requests are signed with both secrets."
    )

    @OptionGroup var argument: WebhookArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let secret = try await Webhooks.run { try await $0.rotate(argument.id) }
        try output.print(NewSecret(id: argument.id, secret: secret)) {
            "The new secret, which is not shown again:\n\(secret)\nFor a day, requests are signed with the old one, too."
        }
    }
}

struct RemoveWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a webhook, and what waits for it."
    )

    @OptionGroup var argument: WebhookArgument

    func run() async throws {
        try await Webhooks.run { try await $0.remove(argument.id) }
        print("Webhook \(argument.id) is removed.")
    }
}

/// The webhook that a command is about.
struct WebhookArgument: ParsableArguments {
    @Argument(help: "The webhook's id.")
    var id: Int
}

private struct NewSecret: Encodable {
    let id: Int
    let secret: String
}

private enum Webhooks {
    static func run<Result>(_ body: (ManageWebhooks) async throws -> Result) async throws -> Result {
        let source = try ConfigurationSource.ofThisCommand()
        do {
            return try await ManageWebhooks.with(try source.read { $0.postgres() }, .init(source), body)
        } catch let failure as ManageWebhooks.Failure {
            throw WebhookFailure(text(of: failure))
        } catch let failure as CurlFailure {
            throw WebhookFailure("The receiver can't be used: \(failure.reason).")
        }
    }

    static func state(of webhook: Webhook) -> String {
        switch webhook.disabledReason {
        case nil: webhook.failingSince == nil ? "enabled" : "failing"
        case .byHand: "disabled"
        case .gone: "disabled: gone"
        case .failing: "disabled: failing"
        }
    }

    private static func text(of failure: ManageWebhooks.Failure) -> String {
        switch failure {
        case .malformedURL: "The URL must begin with https://, and have no user and no fragment."
        case .unencrypted: "http:// is only for networks that WEBHOOK_NETWORKS names. Use https://."
        case .events(.none): "Name at least one event with --on, such as photos.created."
        case .events(.tooMany): "These are too many events. Name whole collections."
        case .events(.unknown(let event)):
            "There is no event \(event.debugDescription). Name a collection, photos or users, or one of their changes."
        case .tooMany: "There are \(WebhookStore.maxCount) webhooks already. Remove one first."
        case .noSuchWebhook: "There is no such webhook. Run selfie webhooks list."
        case .otherSecret: "Its secret was sealed with another SECRET_KEY_BASE. Run selfie webhooks rotate."
        }
    }
}

private struct WebhookFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
