import ArgumentParser
import Deliveries
import FoundationEssentials
import SelfieOperations

struct DeliveriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries",
        abstract: "See what is to be sent out, such as mails, and try it again.",
        discussion: """
            A delivery is removed when the other side has taken it. One that was refused, or tried to the end, stays for seven \
            days. Only DATABASE_URL is needed. A running service sends.
            """,
        subcommands: [ListDeliveries.self, ShowDelivery.self, RetryDelivery.self, DropDelivery.self]
    )
}

struct ListDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List deliveries, those that are due first."
    )

    @Flag(help: "List only those that are not tried any more.")
    var failed = false

    @Option(help: "The most deliveries to list, at most \(maxLimit).")
    var limit = 100

    @OptionGroup var output: OutputOptions

    private static let maxLimit = 100_000

    func validate() throws {
        guard (1...Self.maxLimit).contains(limit) else {
            throw ValidationError("--limit must be a whole number from 1 to \(Self.maxLimit).")
        }
    }

    func run() async throws {
        let deliveries = try await Administration.run {
            try await $0.deliveries(onlyFailed: failed, limit: limit)
        }
        try output.print(deliveries) {
            let rows = deliveries.map { delivery in
                [
                    delivery.id.uuidString.lowercased(), delivery.channel, delivery.kind, delivery.target,
                    delivery.state.rawValue, "\(delivery.tryCount)", Cell.date(delivery.createdAt),
                    delivery.state == .failed ? "" : Cell.date(delivery.dueAt), Cell.text(delivery.reason),
                ]
            }
            return TextTable.text(
                [["ID", "CHANNEL", "CAUSE", "TARGET", "STATE", "TRIES", "CREATED", "DUE", "REASON"]] + rows,
                rightAligned: [5]
            )
        }
    }
}

struct ShowDelivery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one delivery.")

    @OptionGroup var argument: DeliveryArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let delivery = try await Administration.run { try await $0.delivery(argument.id) }
        try output.print(delivery) {
            let rows = [
                ["id", delivery.id.uuidString.lowercased()], ["channel", delivery.channel],
                ["target", delivery.target], ["cause", Cell.text(delivery.cause)], ["state", delivery.state.rawValue],
                ["tries", "\(delivery.tryCount)"], ["reason", Cell.text(delivery.reason)],
                ["created", Cell.date(delivery.createdAt)], ["due", Cell.date(delivery.dueAt)],
                ["ends", Cell.date(delivery.endsAt)], ["failed", Cell.date(delivery.failedAt)],
            ]
            return TextTable.text(rows.filter { !$0[1].isEmpty })
        }
    }
}

struct RetryDelivery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Try a delivery again at once, or all that have failed.",
        discussion: "The code in a mail ends after ten minutes. Such a mail is not sent again."
    )

    @OptionGroup var selection: DeliverySelection
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let count = try await Administration.run { try await $0.retryDeliveries(selection.id) }
        try output.print(DeliveryOutcome(count: count)) { "\(Deliveries.text(count)) will be tried at once." }
    }
}

struct DropDelivery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Remove a delivery without sending it, or all that have failed."
    )

    @OptionGroup var selection: DeliverySelection
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let count = try await Administration.run { try await $0.dropDeliveries(selection.id) }
        try output.print(DeliveryOutcome(count: count)) {
            "\(Deliveries.text(count)) \(count == 1 ? "is" : "are") removed."
        }
    }
}

private enum Deliveries {
    static func text(_ count: Int) -> String { count == 1 ? "1 delivery" : "\(count) deliveries" }
}

/// The delivery that a command is about.
struct DeliveryArgument: ParsableArguments {
    @Argument(help: "The delivery's id.", transform: DeliveryArgument.id)
    var id: UUID

    static func id(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else { throw ValidationError("\(text) is not the id of a delivery.") }
        return id
    }
}

/// One delivery, or all that have failed.
struct DeliverySelection: ParsableArguments {
    @Argument(help: "The delivery's id.", transform: DeliveryArgument.id)
    var id: UUID?

    @Flag(help: "All that are not tried any more.")
    var failed = false

    func validate() throws {
        guard (id != nil) != failed else { throw ValidationError("Name one delivery, or say --failed.") }
    }
}

/// How many deliveries were changed.
private struct DeliveryOutcome: Encodable {
    let count: Int
}
