import Encodings
import Hummingbird
import JSON
import RecordSchema
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfieNotifications
import SelfieRecords

/// What users want to be told of while their apps are closed.
///
/// Where neither pushes nor mails are sent, there are no such calls.
struct SubscriptionEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "listSubscriptions",
            .notifications,
            .get,
            "/api/subscriptions",
            .token(handleList),
            "List your subscriptions",
            answers: [
                .ok(
                    "The subscriptions, by their ids.",
                    .json(schema: listSchema, example: ["subscriptions": [example]])
                )
            ]
        ),
        HandledEndpoint(
            "getSubscription",
            .notifications,
            .get,
            "/api/subscriptions/:subscription",
            .token(handleGet),
            "Read a subscription",
            takes: [.subscriptionID],
            answers: [.ok("The subscription.", .json(schema: schema, example: example))],
            refuses: [.subscriptionNotFound]
        ),
        HandledEndpoint(
            "putSubscription",
            .notifications,
            .put,
            "/api/subscriptions/:subscription",
            .token(handlePut),
            "Subscribe to changes",
            details: """
                You are told of changes that `GET /api/changes` tells you, as far as you may see them when the push or mail is \
                sent. Your device is not told of what its own session did. The same call again changes nothing. A user may have \
                \(Subscription.maxCount) subscriptions.

                With `where`, `created` is what begins to fit, also by a change, `deleted` what ends to fit, and `updated` what \
                fitted and fits.
                """,
            limitedBy: [.recordWritesPerUser],
            takes: [.subscriptionID],
            sends: .subscription,
            answers: [.ok("The subscription.", .json(schema: schema, example: example))],
            refuses: [.subscriptionIDInvalid, .tooManySubscriptions, .indexMissing, Endpoint.Parameter.where.invalid]
        ),
        HandledEndpoint(
            "removeSubscription",
            .notifications,
            .delete,
            "/api/subscriptions/:subscription",
            .token(handleRemove),
            "End a subscription",
            limitedBy: [.recordWritesPerUser],
            takes: [.subscriptionID],
            answers: [.message(removed)],
            refuses: [.subscriptionNotFound]
        ),
    ]

    static let removed = "Subscription removed"

    private static let schema: JSONValue = [
        "type": "object", "additionalProperties": false,
        "required": [
            "id", "collection", "where", "on", "once", "channel", "alert", "sound", "badge", "silent", "collapse",
            "created_at", "fired_at",
        ],
        "properties": [
            "id": ["type": "string"], "collection": ["type": "string"], "where": ["type": "object"],
            "on": ["type": "array", "items": ["type": "string", "enum": ["created", "updated", "deleted"]]],
            "once": ["type": "boolean"], "channel": ["type": "string", "enum": ["push", "mail"]],
            "alert": ["type": ["string", "null"]], "sound": ["type": ["string", "null"]], "badge": ["type": "boolean"],
            "silent": ["type": "boolean"], "collapse": ["type": ["string", "null"]],
            "created_at": ["type": "string", "format": "date-time"],
            "fired_at": [
                "type": ["string", "null"], "format": "date-time",
                "description": "When it told of something, if it does that only once.",
            ],
        ],
    ]
    private static let example: JSONValue = [
        "id": "new-messages", "collection": "photos", "where": [:], "on": ["created"], "once": false, "channel": "push",
        "alert": "You have a new photo", "sound": "default", "badge": true, "silent": false, "collapse": .null,
        "created_at": "2026-11-30T10:00:00.000Z", "fired_at": .null,
    ]
    private static let listSchema: JSONValue = [
        "type": "object", "required": ["subscriptions"], "additionalProperties": false,
        "properties": ["subscriptions": ["type": "array", "items": schema]],
    ]

    /// The bytes of all subscriptions of a user: as many bodies, with their ids.
    private static let maxListBytes = Subscription.maxCount * (maxBodyBytes + 1_024)
    private static let maxBodyBytes = 8 << 10

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.sendsPushes || settings.mail != nil }

    init(_ parts: WebParts) { self.parts = parts }

    private var subscriptions: ManageSubscriptions { parts.useCases.notifications.manageSubscriptions }

    @Sendable
    private func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let memory = try AnswerMemory(Self.maxListBytes, of: parts.answers, for: context)
        let list = try await subscriptions.store.list(ofUser: context.session.userID)
        var json = JSONWriter()
        json.write(["subscriptions": .array(list.map(Self.json))])
        return try Response(json, within: memory).revalidated()
    }

    @Sendable
    private func handleGet(request: Request, context: SessionRequestContext) async throws -> Response {
        guard let id = Self.id(context),
            let found = try await subscriptions.store.find(id, ofUser: context.session.userID)
        else { throw ServiceError.subscriptionNotFound }
        return Self.response(found).revalidated()
    }

    @Sendable
    private func handlePut(request: Request, context: SessionRequestContext) async throws -> Response {
        let body = try await JSONBody.read(from: request, context: context, maxBytes: Self.maxBodyBytes)
        guard case .object(let members) = body else { throw ServiceError.jsonNotAnObject }
        guard let id = Self.id(context) else { throw ServiceError.subscriptionIDInvalid }
        let subscription = try await subscriptions.put(
            id,
            SubscriptionFields(members, channels: subscriptions.channels),
            ofUser: context.session.userID,
            from: parts.sources.source(of: request, context: context)
        )
        return Self.response(subscription)
    }

    @Sendable
    private func handleRemove(request: Request, context: SessionRequestContext) async throws -> Response {
        let source = parts.sources.source(of: request, context: context)
        guard let id = Self.id(context),
            try await subscriptions.remove(id, ofUser: context.session.userID, from: source)
        else { throw ServiceError.subscriptionNotFound }
        return .message(Self.removed)
    }

    private static func id(_ context: SessionRequestContext) -> String? {
        context.parameters.get(Endpoint.Parameter.subscriptionID.name).flatMap { RecordID.isValid($0) ? $0 : nil }
    }

    private static func response(_ subscription: Subscription) -> Response {
        var writer = JSONWriter()
        writer.write(json(of: subscription))
        return Response(writer)
    }

    private static func json(of subscription: Subscription) -> JSONValue {
        let definition = subscription.definition
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        return [
            "id": .string(subscription.id), "collection": .string(definition.collection),
            "where": (try? JSONValue.parse(stored: definition.condition.utf8)) ?? [:],
            "on": .array(ChangeKind.allCases.filter(definition.kinds.contains).map { .string($0.rawValue) }),
            "once": .boolean(definition.isOnce), "channel": .string(definition.channel.rawValue),
            "alert": text(definition.alert?.text), "sound": text(definition.sound),
            "badge": .boolean(definition.hasBadge),
            "silent": .boolean(definition.isSilent), "collapse": text(definition.collapse),
            "created_at": .string(subscription.createdAt.contractText),
            "fired_at": text(subscription.firedAt?.contractText),
        ]
    }
}
