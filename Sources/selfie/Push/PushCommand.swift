import ArgumentParser
import Deliveries
import SelfieConfiguration
import SelfieNotifications
import SelfieOperations

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "See the devices that get pushes.",
        subcommands: [ListDevices.self]
    )
}

struct ListDevices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the devices of an account."
    )

    @OptionGroup var argument: UserArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let devices = try await Administration.run { try await ManagePushes.devices(of: argument.user, $0) }
        try output.print(devices) {
            let rows = devices.map { device in
                [
                    device.token, device.platform.rawValue,
                    device.platform == .apns ? device.environment.rawValue : "",
                    Cell.text(device.topic), "\(device.badge)", Cell.date(device.registeredAt),
                ]
            }
            let heading = ["TOKEN", "PLATFORM", "ENVIRONMENT", "TOPIC", "BADGE", "REGISTERED"]
            return TextTable.text([heading] + rows, rightAligned: [4])
        }
    }
}

struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Try the settings of pushes.",
        subcommands: [SendTestPush.self]
    )
}

struct SendTestPush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send a push to each device of an account at once, and say what became of it.",
        discussion: "DATABASE_URL, SECRET_KEY_BASE and the settings of pushes are needed. See docs/push.md."
    )

    @OptionGroup var argument: UserArgument

    func run() async throws {
        let (source, outbox) = try ConfigurationSource.ofThisCommandAndOutbox()
        let outcomes = try await Administration.run {
            try await ManagePushes($0, source, outbox: outbox).test(argument.user)
        }
        if outcomes.isEmpty { throw PushFailure.noDevice }
        for (device, outcome) in outcomes {
            print("\(device.platform.rawValue) \(device.token): \(Self.text(of: outcome))")
        }
        if outcomes.contains(where: { $0.outcome != .sent }) { throw ExitCode.failure }
    }

    private static func text(of outcome: DeliveryOutcome?) -> String {
        switch outcome {
        case nil: "this platform is not set up"
        case .sent: "taken"
        case .pointless, .postponed, .unfinished: "not sent"
        case .notNow(let reason, _), .unavailable(let reason, _): "not taken at present (\(reason))"
        case .refused(let reason): "refused (\(reason))"
        }
    }
}

/// No push was sent.
private enum PushFailure: Error, CustomStringConvertible {
    case noDevice

    var description: String {
        "The account has no device. Its app registers one after sign-in. See docs/push.md."
    }
}
