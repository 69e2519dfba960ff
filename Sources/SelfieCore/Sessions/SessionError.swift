/// Why a token does not work.
package enum SessionError: Error {
    /// It has no session, or its session ended meanwhile.
    case ended
}
