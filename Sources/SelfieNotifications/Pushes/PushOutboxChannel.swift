import Deliveries
import FoundationEssentials
import JSON
import OrderedCollections
import Push
import SelfieRecords

/// Writes pushes into a folder, for development.
struct PushOutboxChannel: DeliveryChannel {
    let platform: Device.Platform
    let composer: PushComposer
    let outbox: Outbox

    var name: DeliveryChannelName {
        switch platform {
        case .apns: .apns
        case .fcm: .fcm
        }
    }

    func send(_ delivery: Delivery) async -> DeliveryOutcome {
        await PushOutcome.of(name.rawValue) {
            guard let push = try await composer.compose(delivery) else { return .pointless }
            return try write(push)
        }
    }

    /// Writes a push, and announces it.
    ///
    /// - Throws: An error of Foundation's.
    func write(_ push: ComposedPush) throws -> DeliveryOutcome {
        try outbox.write(
            push.text(for: platform).utf8,
            id: push.id,
            at: Date(),
            kind: "push-\(push.hint.collection)-\(push.hint.type.rawValue)",
            type: "json",
            announcing: """
                push to the device \(push.device.token.prefix(8))…: \
                \(push.alert ?? "\(push.hint.collection) \(push.hint.type.rawValue)")
                """
        )
        return .sent
    }
}

extension ComposedPush {
    /// What would be sent, with the topic and the headers for Apple.
    fileprivate func text(for platform: Device.Platform) -> String {
        guard platform == .apns else { return fcmMessage.text }
        let request = apnsRequest(topic: "the topic of APNS_TOPIC")
        return JSONValue.object([
            "device": .string(request.deviceToken), "environment": .string(device.environment.rawValue),
            "headers": JSONValue.object([
                "apns-id": .string(request.id.uuidString.lowercased()), "apns-topic": .string(request.topic),
                "apns-push-type": .string(request.kind.rawValue),
            ]).with(request.collapseID.map { ["apns-collapse-id": .string($0)] } ?? [:]),
            "payload": (try? JSONValue.parse(request.payload.utf8)) ?? .null,
        ]).text
    }
}
