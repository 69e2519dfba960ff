import JSON
import SelfieAccounts
import SelfieNotifications

extension Endpoint.JSONBodyDescription {
    /// What a client sends about a device.
    static let device = Self(
        "The device.",
        schema: [
            "type": "object", "additionalProperties": false, "required": ["platform"],
            "properties": [
                "platform": ["type": "string", "enum": ["apns", "fcm"], "description": "Whose service reaches it."],
                "environment": [
                    "type": "string", "enum": ["production", "sandbox"],
                    "description":
                        "Apple's service: `sandbox` for an app that Xcode has installed. By default `production`.",
                ],
                "topic": [
                    "type": ["string", "null"], "pattern": "^[A-Za-z0-9.-]{1,255}$",
                    "description": "The app's bundle id; by default the operator's.",
                ],
                "badge": [
                    "type": ["integer", "null"], "minimum": 0, "maximum": JSONValue(Device.badges.upperBound),
                    "description": "What the app's icon shows now.",
                ],
            ],
        ],
        example: ["platform": "apns", "environment": "production", "badge": 0],
        validationErrors: ["platform", "environment", "topic", "badge", "device_token"].map {
            ServiceError(.invalid, of: $0)
        }
            + [ServiceError(.blank, of: "platform"), ServiceError(.unknown, of: "nickname"), .jsonNotAnObject]
    )

    /// What a client sends about a subscription.
    static let subscription = Self(
        "The subscription.",
        schema: [
            "type": "object", "additionalProperties": false, "required": ["collection", "on"],
            "properties": [
                "collection": ["type": "string", "description": "A collection's name, or `photos`."],
                "where": [
                    "type": ["object", "null"],
                    "description": "Fields with an index, and the values that they must have, as in lists.",
                ],
                "on": [
                    "type": "array", "minItems": 1, "uniqueItems": true,
                    "items": ["type": "string", "enum": ["created", "updated", "deleted"]],
                    "description": "The kinds of changes.",
                ],
                "once": ["type": ["boolean", "null"], "description": "Whether it tells only once."],
                "channel": [
                    "type": ["string", "null"], "enum": ["push", "mail", .null],
                    "description": "How you are told. A mail gathers the changes of a minute. By default `push`.",
                ],
                "alert": [
                    "type": ["string", "null"], "maxLength": JSONValue(PushText.maxCharacters),
                    "description": """
                    The text. `{collection}` is filled, and with `PUSH_CONTENTS=contents` fields such as `{title}`, and \
                    `{owner.first_name}`.
                    """,
                ],
                "sound": [
                    "type": ["string", "null"], "maxLength": JSONValue(Subscription.maxSoundBytes),
                    "description": "The name of a sound of the app, or `default`.",
                ],
                "badge": [
                    "type": ["boolean", "null"], "description": "Whether the number on the app's icon counts up.",
                ],
                "silent": [
                    "type": ["boolean", "null"],
                    "description": "Whether nothing is shown, and the app wakes in the background.",
                ],
                "collapse": [
                    "type": ["string", "null"], "pattern": "^[!-~]{1,64}$",
                    "description": "Pushes with the same key replace each other on a device.",
                ],
            ],
        ],
        example: ["collection": "photos", "on": ["created"], "alert": "You have a new photo", "badge": true],
        validationErrors: ["collection", "on", "once", "channel", "alert", "sound", "badge", "silent", "collapse"].map {
            ServiceError(.invalid, of: $0)
        }
            + ["collection", "on", "alert"].map { ServiceError(.blank, of: $0) }
            + [
                ServiceError(.tooLong(maxCharacters: PushText.maxCharacters), of: "alert"),
                ServiceError(.unknown, of: "nickname"), .jsonNotAnObject,
            ]
    )
}
