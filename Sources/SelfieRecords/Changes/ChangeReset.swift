/// Why a client must begin again: it may have missed changes that can't be found any more.
package enum ChangeReset: String, Error, Sendable, CaseIterable {
    /// The database is another one, or an older state of it, or was started more than fifteen times since.
    case database
    /// The client was away for so long that some of the changes it missed were deleted.
    case forgotten
    /// The user has lost a role, or a collection was removed.
    case access
    /// The cursor is of other `collections`.
    case collections
}
