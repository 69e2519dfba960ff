/// Why a photo was not stored, or not listed.
package enum PhotoError: Error {
    /// Its format is not accepted.
    case unknownFormat
    /// Storing it took too long, so the sweeper gave it up.
    case givenUp
    /// The user has the most photos, or the most bytes of photos, that are allowed.
    case noRoom
    /// An upload with the same key is under way, or has just failed.
    case keyInUse
    /// The key came with another photo, or another title, before.
    case keyReused
    /// The photo that was uploaded with the key was deleted.
    case keyDeleted
    /// `after` names a photo that the user does not have.
    case noSuchPosition
}
