/// What becomes of the metadata in uploaded photos: `PHOTO_METADATA`.
package enum PhotoMetadata: String, CaseIterable, Sendable {
    /// It is removed: where, when, by whom and with what a photo was taken. The pixels stay the same.
    case strip
    /// Photos are stored as they were sent.
    case keep
}
