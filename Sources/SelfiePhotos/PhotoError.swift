/// Why a photo was not stored, or not listed.
package enum PhotoError: Error {
    /// Its format is not accepted.
    case unknownFormat
    /// Storing it took too long, so the sweeper gave it up.
    case givenUp
    /// The user has the most photos, or the most bytes of photos, that are allowed.
    case noRoom
    /// `after` names a photo that the user does not have.
    case noSuchPosition
}
