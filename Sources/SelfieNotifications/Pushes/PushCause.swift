import FoundationEssentials
import SelfieRecords

/// The cause of a push, as ``SpreadStatement`` writes it.
struct PushCause: Decodable {
    /// What became of the record or the photo.
    let kind: ChangeKind
    /// The row of the subscription.
    let subscription: Int
    /// The row of the device.
    let device: Int
    let stream: Int
    let collection: Int
    let key: Int
    /// Whether the number on the app's icon was counted up for it.
    let isCounted: Bool?

    /// Reads the cause of a delivery; nil for another one.
    init?(_ text: String) {
        guard let cause = try? JSONDecoder().decode(PushCause.self, from: Data(text.utf8)) else { return nil }
        self = cause
    }

    var row: ToldChange.Row { ToldChange.Row(stream: stream, collection: collection, key: key) }
}
