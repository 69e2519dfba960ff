/// A photo that was just stored.
package struct StoredPhoto: Sendable {
    /// The photo, as a list has it.
    package let row: PhotoRows
    /// The number of the user's present series of photos' URLs.
    package let urlSeries: Int
}
