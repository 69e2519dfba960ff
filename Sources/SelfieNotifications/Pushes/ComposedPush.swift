import FoundationEssentials
import JSON
import OrderedCollections
import Push
import SelfieRecords

/// A push that is composed, for any platform.
struct ComposedPush: Sendable {
    let id: UUID
    let device: Device
    /// The text; nil for none.
    let alert: String?
    let sound: String?
    /// What the app's icon is to show; nil to leave it.
    let badge: Int?
    let isSilent: Bool
    let collapse: String?
    /// What the app finds in the push beside what is shown.
    let hint: Hint
    /// When it is given up.
    let expiresAt: Date

    /// What has changed, for the app, which fetches it.
    struct Hint: Sendable {
        let collection: String
        let id: String
        let type: ChangeKind
        /// The id of the client's choice.
        let subscription: String

        fileprivate var members: OrderedDictionary<String, JSONValue> {
            [
                "collection": .string(collection), "id": .string(id), "type": .string(type.rawValue),
                "subscription": .string(subscription),
            ]
        }
    }
}

/// For Apple (source: "Generating a remote notification").
extension ComposedPush {
    func apnsRequest(topic: String) -> APNsRequest {
        APNsRequest(
            id: id,
            deviceToken: device.token,
            topic: device.topic ?? topic,
            kind: isSilent ? .background : .alert,
            collapseID: collapse,
            payload: JSONValue.object(["aps": .object(aps), "selfie": .object(hint.members)]).text,
            expiresAt: expiresAt
        )
    }

    private var aps: OrderedDictionary<String, JSONValue> {
        if isSilent { return ["content-available": 1] }
        var aps: OrderedDictionary<String, JSONValue> = [:]
        if let alert { aps["alert"] = .string(alert) }
        if let sound { aps["sound"] = .string(sound) }
        if let badge { aps["badge"] = JSONValue(badge) }
        return aps
    }
}

/// For Google (source: "REST Resource: projects.messages" of the HTTP v1 API).
extension ComposedPush {
    /// The member `message` of the request.
    var fcmMessage: JSONValue {
        var android: OrderedDictionary<String, JSONValue> = [
            "priority": isSilent ? "normal" : "high", "ttl": .string("\(max(0, Int(expiresAt.timeIntervalSinceNow)))s"),
        ]
        var apnsHeaders: OrderedDictionary<String, JSONValue> = [
            "apns-push-type": isSilent ? "background" : "alert", "apns-priority": isSilent ? "5" : "10",
        ]
        if let collapse {
            android["collapse_key"] = .string(collapse)
            apnsHeaders["apns-collapse-id"] = .string(collapse)
        }
        var message: OrderedDictionary<String, JSONValue> = [
            "token": .string(device.token), "data": .object(hint.members),
        ]
        if let alert { message["notification"] = ["body": .string(alert)] }
        var notification: OrderedDictionary<String, JSONValue> = [:]
        if let sound { notification["sound"] = .string(sound) }
        if let badge { notification["notification_count"] = JSONValue(badge) }
        if !notification.isEmpty { android["notification"] = .object(notification) }
        message["android"] = .object(android)
        message["apns"] = ["headers": .object(apnsHeaders), "payload": ["aps": .object(aps)]]
        return .object(message)
    }
}
