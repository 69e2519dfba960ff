/// Why a token does not work.
package enum SessionError: Error {
    /// It has no session, or its session ended meanwhile.
    case ended
    /// Its session expired while the call waited.
    case expired
}
