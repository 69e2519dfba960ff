import SelfieClient

/// The calls about devices and subscriptions.
///
/// They are stored; nothing is sent.
enum NotificationCalls {
    static let routes = [
        Route("GET", "api/devices", .user(listDevices)),
        Route("PUT", "api/devices/*", .user(register)),
        Route("DELETE", "api/devices/*", .user(removeDevice)),
        Route("GET", "api/subscriptions", .user(listSubscriptions)),
        Route("GET", "api/subscriptions/*", .user(subscription)),
        Route("PUT", "api/subscriptions/*", .user(subscribe)),
        Route("DELETE", "api/subscriptions/*", .user(unsubscribe)),
    ]

    private static let maxDevices = 20
    private static let maxSubscriptions = 50

    // MARK: Devices

    private static func requirePushes(_ state: ServiceState) throws {
        guard state.settings.sendsPushes else { throw ServiceRefusal.wrongURL }
    }

    private static func listDevices(_ state: inout ServiceState, _: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requirePushes(state)
        let devices = state.devices.list(of: session.userID)
        return .json(["devices": .array(devices.map { $0.json(currentSession: session.id) })])
    }

    private static func register(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requirePushes(state)
        let (token, parameters) = (request.path[2], try request.parameters)
        guard let platform = parameters["platform"].flatMap(Device.Platform.init) else {
            throw ServiceRefusal.invalid("platform", valid: "apns or fcm, as far as the service sends to it")
        }
        guard let environment = Device.Environment(rawValue: parameters["environment"] ?? "production") else {
            throw ServiceRefusal.invalid("environment", valid: "production or sandbox")
        }
        let before = state.devices[token].flatMap { $0.userID == session.userID ? $0 : nil }
        if before == nil, state.devices.list(of: session.userID).count >= maxDevices {
            let message = "You have \(maxDevices) devices already"
            throw ServiceRefusal(status: 403, code: "too_many_devices", message: message)
        }
        var badge = before?.badge ?? 0
        if case .integer(let number)? = parameters.values["badge"] { badge = Int(number) }
        let device = RegisteredDevice(
            token: token,
            userID: session.userID,
            sessionID: session.id,
            platform: platform,
            environment: environment,
            topic: parameters["topic"],
            badge: badge,
            registeredAt: state.now
        )
        state.devices.register(device)
        return .json(device.json(currentSession: session.id))
    }

    private static func removeDevice(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requirePushes(state)
        guard state.devices[request.path[2]]?.userID == session.userID else {
            throw ServiceRefusal(status: 404, code: "device_not_found", message: "There is no such device")
        }
        state.devices.remove(request.path[2])
        return .message("Device removed")
    }

    // MARK: Subscriptions

    private static let subscriptionNotFound = ServiceRefusal(
        status: 404,
        code: "subscription_not_found",
        message: "There is no such subscription"
    )

    private static func requireChannels(_ state: ServiceState) throws {
        guard state.settings.sendsPushes || state.settings.sendsMail else { throw ServiceRefusal.wrongURL }
    }

    private static func listSubscriptions(_ state: inout ServiceState, _: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requireChannels(state)
        return .json(["subscriptions": .array(state.subscriptions.list(of: session.userID))])
    }

    private static func subscription(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requireChannels(state)
        guard let found = state.subscriptions[session.userID, request.path[2]] else { throw subscriptionNotFound }
        return .json(found)
    }

    private static func subscribe(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requireChannels(state)
        let (id, values) = (request.path[2], try request.parameters.values)
        guard let collection = values["collection"]?.text else {
            throw ServiceRefusal.invalid("collection", "can't be blank", code: "blank")
        }
        guard let kinds = values["on"]?.texts, !kinds.isEmpty else {
            throw ServiceRefusal.invalid("on", "can't be blank", code: "blank")
        }
        guard kinds.allSatisfy({ Subscription.Change(rawValue: $0) != nil }) else {
            throw ServiceRefusal.invalid("on", valid: "a list with created, updated or deleted")
        }
        let channel = values["channel"]?.text ?? "push"
        guard channel == "push" && state.settings.sendsPushes || channel == "mail" && state.settings.sendsMail else {
            throw ServiceRefusal.invalid("channel", valid: "push or mail, as far as the service sends them")
        }
        let condition = values["where"] ?? [:]
        if collection == "photos" {
            if condition != [:] { throw ServiceRefusal.indexMissing(condition.members?.keys.first ?? "") }
        } else {
            let indexes = try state.collection(RecordLocation(name: collection, inboxOf: nil), seenBy: session.userID)
                .indexes
            if let field = condition.members?.keys.first(where: { !indexes.contains($0) }) {
                throw ServiceRefusal.indexMissing(field)
            }
        }
        let before = state.subscriptions[session.userID, id]
        if before == nil, state.subscriptions.count(of: session.userID) >= maxSubscriptions {
            let message = "You have \(maxSubscriptions) subscriptions already"
            throw ServiceRefusal(status: 403, code: "too_many_subscriptions", message: message)
        }
        var stored: [String: JSONValue] = [
            "id": .string(id), "collection": .string(collection), "where": condition, "on": JSONValue(kinds),
            "once": values["once"] ?? false, "channel": .string(channel), "badge": values["badge"] ?? false,
            "silent": values["silent"] ?? false, "created_at": before?["created_at"] ?? JSONValue(state.now),
            "fired_at": .null,
        ]
        for name in ["alert", "sound", "collapse"] { stored[name] = values[name] ?? .null }
        state.subscriptions[session.userID, id] = .object(stored)
        return .json(.object(stored))
    }

    private static func unsubscribe(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try requireChannels(state)
        guard state.subscriptions[session.userID, request.path[2]] != nil else { throw subscriptionNotFound }
        state.subscriptions[session.userID, request.path[2]] = nil
        return .message("Subscription removed")
    }
}
