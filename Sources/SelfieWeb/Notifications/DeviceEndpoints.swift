import Encodings
import Hummingbird
import JSON
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfieNotifications

/// The devices that get a user's pushes.
///
/// Where nobody sends pushes, there are no such calls.
struct DeviceEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "listDevices",
            .notifications,
            .get,
            "/api/devices",
            .token(handleList),
            "List your devices",
            answers: [
                .ok(
                    "The devices, the first registered first.",
                    .json(schema: listSchema, example: ["devices": [example]])
                )
            ]
        ),
        HandledEndpoint(
            "registerDevice",
            .notifications,
            .put,
            "/api/devices/:device",
            .token(handleRegister),
            "Register a device",
            details: """
                Call it at each start of the app. The device gets pushes until the token's session ends. It belongs to whoever \
                registered it last. A user may have \(Device.maxCount) devices.

                `badge` is what the app's icon shows now: pushes of subscriptions with `badge` count on from there.
                """,
            limitedBy: [.recordWritesPerUser],
            takes: [.deviceToken],
            sends: .device,
            answers: [.ok("The device.", .json(schema: schema, example: example))],
            refuses: [.tooManyDevices]
        ),
        HandledEndpoint(
            "removeDevice",
            .notifications,
            .delete,
            "/api/devices/:device",
            .token(handleRemove),
            "Remove a device",
            limitedBy: [.recordWritesPerUser],
            takes: [.deviceToken],
            answers: [.message(removed)],
            refuses: [.deviceNotFound]
        ),
    ]

    static let removed = "Device removed"

    private static let schema: JSONValue = [
        "type": "object", "additionalProperties": false,
        "required": ["device", "platform", "environment", "topic", "badge", "registered_at", "current"],
        "properties": [
            "device": ["type": "string", "description": "The device token."],
            "platform": ["type": "string", "enum": ["apns", "fcm"]],
            "environment": ["type": "string", "enum": ["production", "sandbox"]],
            "topic": ["type": ["string", "null"], "description": "The app's bundle id; `null` for the operator's."],
            "badge": ["type": "integer", "description": "What the app's icon shows."],
            "registered_at": ["type": "string", "format": "date-time"],
            "current": ["type": "boolean", "description": "Whether it belongs to the session of this call."],
        ],
    ]
    private static let example: JSONValue = [
        "device": .string(Endpoint.Parameter.deviceToken.example), "platform": "apns", "environment": "production",
        "topic": .null, "badge": 0, "registered_at": "2026-11-30T10:00:00.000Z", "current": true,
    ]
    private static let listSchema: JSONValue = [
        "type": "object", "required": ["devices"], "additionalProperties": false,
        "properties": ["devices": ["type": "array", "items": schema]],
    ]

    /// The bytes of all devices of a user, with the longest tokens.
    private static let maxListBytes = 32 << 10
    private static let maxBodyBytes = 4 << 10

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.sendsPushes }

    init(_ parts: WebParts) { self.parts = parts }

    private var devices: ManageDevices { parts.useCases.notifications.manageDevices }

    @Sendable
    private func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let memory = try AnswerMemory(Self.maxListBytes, of: parts.answers, for: context)
        let list = try await devices.store.list(ofUser: context.session.userID)
        let json = list.map { Self.json(of: $0, current: context.session.id) }
        var writer = JSONWriter()
        writer.write(["devices": .array(json)])
        return try Response(writer, within: memory).revalidated()
    }

    @Sendable
    private func handleRegister(request: Request, context: SessionRequestContext) async throws -> Response {
        let body = try await JSONBody.read(from: request, context: context, maxBytes: Self.maxBodyBytes)
        guard case .object(let members) = body else { throw ServiceError.jsonNotAnObject }
        let device = try await devices.register(
            context.parameters.get(Endpoint.Parameter.deviceToken.name) ?? "",
            DeviceFields(members, platforms: devices.platforms),
            by: context.session,
            from: parts.sources.source(of: request, context: context)
        )
        var json = JSONWriter()
        json.write(Self.json(of: device, current: context.session.id))
        return Response(json)
    }

    @Sendable
    private func handleRemove(request: Request, context: SessionRequestContext) async throws -> Response {
        let isRemoved = try await devices.remove(
            context.parameters.get(Endpoint.Parameter.deviceToken.name) ?? "",
            ofUser: context.session.userID,
            from: parts.sources.source(of: request, context: context)
        )
        guard isRemoved else { throw ServiceError.deviceNotFound }
        return .message(Self.removed)
    }

    private static func json(of device: Device, current sessionID: Int) -> JSONValue {
        [
            "device": .string(device.token), "platform": .string(device.platform.rawValue),
            "environment": .string(device.environment.rawValue), "topic": device.topic.map { .string($0) } ?? .null,
            "badge": JSONValue(device.badge), "registered_at": .string(device.registeredAt.contractText),
            "current": .boolean(device.sessionID == sessionID),
        ]
    }
}
