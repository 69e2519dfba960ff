/// What happens to a record or a photo, as a reader sees it.
package enum ChangeKind: String, Sendable, CaseIterable, Codable {
    /// The reader has not seen it before.
    case created
    case updated
    /// The reader does not see it any more. It may still be there for others.
    case deleted
}
