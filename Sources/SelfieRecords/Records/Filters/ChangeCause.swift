import Deliveries
import FoundationEssentials

/// A change in a stream that subscriptions are told of, as its delivery has it.
///
/// The function `tell_photo_subscriptions` writes the same for photos.
package struct ChangeCause: Codable, Sendable, Equatable {
    /// Always `change`.
    private var kind = "change"
    package let stream: Int
    /// The collection's id; 0 for photos.
    package let collection: Int
    /// The row of the record or the photo.
    package let key: Int
    /// The role whose members are told by their own stream, though this one shows them the record, too; nil for none.
    package let toldElsewhere: Int?
    /// The user who made the change; nil for the service itself.
    package let author: Int?
    /// The session that made it; nil for none.
    package let session: Int?
    /// What the change is for each filter that it fits, by the filter's id.
    package let filters: [String: ChangeKind]
    /// The last subscription that was told, in the order of filters and ids; nil for none.
    package var told: Position?

    /// A subscription.
    package struct Position: Codable, Sendable, Equatable {
        package let filter: Int
        package let id: Int

        package init(filter: Int, id: Int) { (self.filter, self.id) = (filter, id) }
    }

    package init(
        stream: Int,
        collection: Int,
        key: Int,
        toldElsewhere: Int? = nil,
        author: Int?,
        session: Int?,
        filters: [String: ChangeKind]
    ) {
        (self.stream, self.collection, self.key) = (stream, collection, key)
        (self.toldElsewhere, self.author, self.session, self.filters) = (toldElsewhere, author, session, filters)
    }

    /// Reads the cause of a delivery; nil for another one.
    package init?(_ text: String) {
        guard let cause = try? JSONDecoder().decode(ChangeCause.self, from: Data(text.utf8)) else { return nil }
        self = cause
    }

    /// As JSON.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // None of its values can't be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The delivery, whose target is the stream: changes of others need not wait for those of one.
    var delivery: NewDelivery { NewDelivery(channel: .subscriptions, target: "stream:\(stream)", cause: text) }
}
