import Deliveries
import FoundationEssentials
import JSON
import OrderedCollections
import Postgres
import SelfieRecords

/// Composes pushes from what their receivers may see when they are sent.
struct PushComposer: Sendable {
    let postgres: PostgresClient
    /// Whether fields of records may leave the service.
    let sendsContents: Bool

    /// For how long Apple and Google may keep a push at least.
    private static let minTime: Duration = .seconds(3_600)

    /// Composes a push.
    ///
    /// - Parameter delivery: As it was claimed.
    /// - Returns: The push; nil when the device or the subscription is gone, or its user may not be told any more.
    /// - Throws: ``UnknownCause``, `PostgresError`.
    func compose(_ delivery: Delivery) async throws -> ComposedPush? {
        guard let cause = PushCause(delivery.cause) else { throw UnknownCause() }
        let row = try await postgres.read(
            """
            SELECT \(part: DeviceStore.columns("devices.")), subscriptions.user_id, name, alert, sound, has_badge, is_silent, collapse
            FROM devices JOIN subscriptions ON subscriptions.user_id = devices.user_id
            WHERE devices.id = \(cause.device) AND subscriptions.id = \(cause.subscription) AND channel = 'push'
                AND \(part: DeviceStore.isActive("devices"))
            """
        ).first
        guard let row else { return nil }
        let text = try row.decodeIfPresent("alert").map { PushText($0) }
        let told = try await ToldChange.read(
            [cause.row],
            ofUser: try row.decode("user_id"),
            withData: sendsContents && text?.hasPlaceholders == true,
            postgres
        )[cause.row]
        // Only a deletion is told of what can't be read.
        guard let told, told.isReadable || cause.kind == .deleted else { return nil }
        let device = try Device(row)
        return ComposedPush(
            id: delivery.id,
            device: device,
            // Apple takes no empty text.
            alert: text.map { $0.filled(with: told.values(sendsContents)) ?? told.collection },
            sound: try row.decodeIfPresent("sound"),
            badge: try row.decode("has_badge") ? try await badge(for: device, delivery, cause) : nil,
            isSilent: try row.decode("is_silent"),
            collapse: try row.decodeIfPresent("collapse"),
            hint: ComposedPush.Hint(
                collection: told.collection,
                id: told.id,
                type: cause.kind,
                subscription: try row.decode("name")
            ),
            // One that an operator has tried again is not too late.
            expiresAt: max(
                delivery.createdAt.addingTimeInterval(NewDelivery.maxLifetime / .seconds(1)),
                Date().addingTimeInterval(Self.minTime / .seconds(1))
            )
        )
    }

    /// The delivery is none of a push.
    struct UnknownCause: Error {}

    /// The number on the app's icon, which a push counts up once.
    ///
    /// A later try has the number of then: others may have counted on, and the app may have begun anew.
    private func badge(for device: Device, _ delivery: Delivery, _ cause: PushCause) async throws -> Int? {
        if cause.isCounted == true { return device.badge }
        return try await postgres.withTransaction { connection in
            let badge = try await DeviceStore.countBadge(of: device, on: connection)
            let count = try await connection.execute(DeliveryStore.progress(cause.counted, of: delivery))
            if count == 0 { throw LostClaim() }
            return badge
        }
    }

    /// Another process has claimed the delivery.
    private struct LostClaim: Error {}
}

extension PushCause {
    /// The same, once the badge was counted.
    fileprivate var counted: String {
        JSONValue.object([
            "kind": .string(kind.rawValue), "subscription": JSONValue(subscription), "device": JSONValue(device),
            "stream": JSONValue(stream), "collection": JSONValue(collection), "key": JSONValue(key),
            "isCounted": true,
        ]).text
    }
}
