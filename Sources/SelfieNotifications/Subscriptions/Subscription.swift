package import FoundationEssentials
import Push
package import SelfieRecords

/// What a user wants to be told of.
package struct Subscription: Sendable {
    /// How a user is told.
    package enum Channel: String, Sendable, CaseIterable {
        /// By a push to each of the user's devices.
        case push
        /// By mail, gathered for a minute.
        case mail
    }

    /// What it looks for, and what it says.
    package struct Definition: Sendable, Equatable {
        /// The name of a collection, or `photos`.
        package let collection: String
        /// As a JSON object.
        package let condition: String
        package let kinds: Set<ChangeKind>
        /// Whether it tells only once.
        package let isOnce: Bool
        package let channel: Channel
        /// The text, with placeholders; nil for none.
        package let alert: PushText?
        /// The name of a sound; nil for none.
        package let sound: String?
        /// Whether the number on the app's icon counts up.
        package let hasBadge: Bool
        /// Whether nothing is shown, and the app wakes in the background.
        package let isSilent: Bool
        /// Pushes with the same key replace each other; nil for none.
        package let collapse: String?

        package init(
            collection: String,
            condition: String,
            kinds: Set<ChangeKind>,
            isOnce: Bool,
            channel: Channel,
            alert: PushText?,
            sound: String?,
            hasBadge: Bool,
            isSilent: Bool,
            collapse: String?
        ) {
            (self.collection, self.condition, self.kinds, self.isOnce) = (collection, condition, kinds, isOnce)
            (self.channel, self.alert, self.sound, self.hasBadge) = (channel, alert, sound, hasBadge)
            (self.isSilent, self.collapse) = (isSilent, collapse)
        }
    }

    /// The id of the client's choice.
    package let id: String
    package let definition: Definition
    package let createdAt: Date
    /// When it told of something, if it does that only once.
    package let firedAt: Date?

    /// How many subscriptions a user may have.
    package static let maxCount = 50
    /// The most bytes of `sound`.
    package static let maxSoundBytes = 100
    /// The most bytes of `collapse`: Apple takes no more.
    package static let maxCollapseBytes = APNsRequest.maxCollapseBytes
}
