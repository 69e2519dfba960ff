/// Why a photo was not stored.
package enum PhotoError: Error {
    /// Its format is not accepted.
    case unknownFormat
    /// Storing it took too long, so the sweeper gave it up.
    case givenUp
}
