/// A photo that was stored, now or by an earlier upload with the same key.
package struct StoredPhoto: Sendable {
    /// Whether an earlier upload has stored it.
    package var isEarlier = false
    /// The photo, as a list has it.
    package let row: PhotoRows
    /// The number of the user's present series of photos' URLs.
    package let urlSeries: Int
}
