/// A page of a list.
package struct Page<Entry: Sendable, Marker: Sendable>: Sendable {
    /// At most a thousand.
    package let entries: [Entry]
    /// Where the next page begins; nil at the end.
    package let next: Marker?
}

/// Where a page of unfinished puts, or of versions, begins.
package struct PageMarker: Sendable, Hashable {
    let key: String
    /// Of the upload, or of the version.
    let id: String
}
