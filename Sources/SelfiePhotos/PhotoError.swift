/// Why a photo was not stored, or not listed.
package enum PhotoError: Error {
    /// Its format is not accepted.
    case unknownFormat
    /// Storing it took too long, so the sweeper gave it up.
    case givenUp
    /// The user has as many photos, or as many bytes of photos, as one may have.
    case noRoom
    /// The list is to begin after a photo that the user does not have.
    case noSuchPosition
}
