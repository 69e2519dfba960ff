/// Why a page of the directory can't be made.
package enum DirectoryError: Error {
    /// There is no member with the id in `after`, or the query no longer finds it.
    case noSuchPosition
}
