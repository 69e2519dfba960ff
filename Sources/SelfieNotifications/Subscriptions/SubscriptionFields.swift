import Encodings
package import JSON
package import OrderedCollections
import RecordSchema
import SelfieAccounts
import SelfieRecords

/// What a client sends about a subscription.
package struct SubscriptionFields: Sendable {
    private var collection: String?
    private(set) var conditions: [(field: String, value: JSONValue)] = []
    private var kinds: Set<ChangeKind> = []
    private var isOnce = false
    private var channel = Subscription.Channel.push
    private var alert: PushText?
    private var sound: String?
    private var hasBadge = false
    private var isSilent = false
    private var collapse: String?
    private var validationErrors: [ValidationError] = []

    private static let names: Set = [
        "collection", "where", "on", "once", "channel", "alert", "sound", "badge", "silent", "collapse",
    ]

    /// Reads the fields; `null` counts as missing.
    ///
    /// - Parameters:
    ///   - members: The members of a JSON object.
    ///   - channels: What the service can send.
    package init(_ members: OrderedDictionary<String, JSONValue>, channels: Set<Subscription.Channel>) {
        for (name, value) in members {
            guard Self.names.contains(name) else {
                add(name, .unknown)
                continue
            }
            if value == .null { continue }
            if !read(value, as: name, channels) { add(name, .invalid) }
        }
        for name in ["collection", "on"] where (members[name] ?? .null) == .null { add(name, .blank) }
        if !channels.contains(channel), !validationErrors.contains(where: { $0.field == .other("channel") }) {
            add("channel", .invalid)
        }
        checkTogether()
    }

    /// - Returns: Whether the value is valid.
    private mutating func read(_ value: JSONValue, as name: String, _ channels: Set<Subscription.Channel>) -> Bool {
        switch (name, value) {
        case ("collection", .string(let text)) where !text.utf8.contains(0): collection = text
        case ("where", .object(let members)) where members.count <= Schema.maxIndexCount:
            guard members.values.allSatisfy({ $0.depth == 0 && $0.storageError == nil }),
                members.keys.allSatisfy({ !$0.utf8.contains(0) })
            else { return false }
            conditions = members.map { ($0.key, $0.value) }
        case ("on", .array(let words)):
            let known = words.compactMap { word -> ChangeKind? in
                if case .string(let text) = word { ChangeKind(rawValue: text) } else { nil }
            }
            guard !known.isEmpty, known.count == words.count, Set(known).count == known.count else { return false }
            kinds = Set(known)
        case ("once", .boolean(let flag)): isOnce = flag
        case ("badge", .boolean(let flag)): hasBadge = flag
        case ("silent", .boolean(let flag)): isSilent = flag
        case ("channel", .string(let word)):
            guard let known = Subscription.Channel(rawValue: word), channels.contains(known) else { return false }
            channel = known
        case ("alert", .string(let text)):
            if text.unicodeScalars.count > PushText.maxCharacters {
                add(name, .tooLong(maxCharacters: PushText.maxCharacters))
            }
            guard !text.trimmingWhitespace().isEmpty, Self.isLine(text) else { return false }
            alert = PushText(text)
        case ("sound", .string(let text)):
            guard (1...Subscription.maxSoundBytes).contains(text.utf8.count), Self.isLine(text) else { return false }
            sound = text
        case ("collapse", .string(let text)):
            // It becomes a header.
            guard (1...Subscription.maxCollapseBytes).contains(text.utf8.count),
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { return false }
            collapse = text
        default: return false
        }
        return true
    }

    private static func isLine(_ text: String) -> Bool {
        !text.unicodeScalars.contains(where: \.isControl) && !text.hasLongMarkRun
    }

    private mutating func checkTogether() {
        let isShown = alert != nil || sound != nil || hasBadge
        switch channel {
        case .push:
            if isSilent, isShown { add("silent", .invalid) }
            if !isSilent, !isShown, !validationErrors.contains(where: { $0.field == .other("alert") }) {
                add("alert", .blank)
            }
        case .mail:
            if sound != nil { add("sound", .invalid) }
            if hasBadge { add("badge", .invalid) }
            if isSilent { add("silent", .invalid) }
            if collapse != nil { add("collapse", .invalid) }
        }
    }

    private mutating func add(_ name: String, _ reason: ValidationError.Reason) {
        validationErrors.append(ValidationError(.other(name), reason))
    }

    /// The subscription, whose condition is still to be checked.
    ///
    /// - Throws: `InvalidInput` with all rules that are broken.
    func definition() throws(InvalidInput) -> Subscription.Definition {
        guard validationErrors.isEmpty, let collection else { throw InvalidInput(validationErrors: validationErrors) }
        return Subscription.Definition(
            collection: collection,
            condition: JSONValue.object(.init(uniqueKeysWithValues: conditions.map { ($0.field, $0.value) })).text,
            kinds: kinds,
            isOnce: isOnce,
            channel: channel,
            alert: alert,
            sound: sound,
            hasBadge: hasBadge,
            isSilent: isSilent,
            collapse: collapse
        )
    }
}
