/// What a push says: which record or photo has changed.
///
/// It is a hint; the service has the rest.
public struct Push: Sendable, Hashable {
    /// The name of a collection, or `photos`.
    public let collection: String
    /// The id of the record or the photo.
    public let id: String
    public let change: Subscription.Change
    public let subscriptionID: Subscription.ID

    /// Reads a notification; nil if it is not Selfie's.
    ///
    /// - Parameter userInfo: What the app gets with a notification: of Apple's, `userInfo`; of Google's, `data`.
    public init?(userInfo: [AnyHashable: Any]) {
        let values =
            userInfo["selfie"] as? [String: Any]
            ?? Dictionary(
                userInfo.compactMap { key, value in (key as? String).map { ($0, value) } }
            ) { $1 }
        guard
            let collection = values["collection"] as? String, let id = values["id"] as? String,
            let change = (values["type"] as? String).flatMap(Subscription.Change.init),
            let subscription = values["subscription"] as? String
        else { return nil }
        (self.collection, self.id, self.change, subscriptionID) = (collection, id, change, subscription)
    }
}

extension Selfie {
    /// The record that a push is about.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - type: What its collection holds.
    /// - Returns: nil if the record is of another collection, or the user can't see it any more.
    /// - Throws: ``SelfieError``, or `CancellationError`.
    public func record<Fields: RecordFields>(of push: Push, as type: Fields.Type = Fields.self) async throws
        -> Record<Fields>?
    {
        guard push.collection == Fields.collection, push.change != .deleted else { return nil }
        return try await records(type).find(push.id)
    }
}
