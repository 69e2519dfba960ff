/// The time limits of one transfer.
package struct CurlDeadlines: Sendable {
    /// For a connection, with the wait for a free one.
    package var connect: Duration = .seconds(2)
    /// Without a byte that goes either way.
    ///
    /// Bytes of a body count when the peer has acknowledged them. So a body that moves, however slowly, is never ended.
    /// In the closure, a reader or a source that is slow counts as silence, too.
    package var silence: Duration = .seconds(4)
    /// The same between the bytes of an answer that are wanted.
    ///
    /// It also holds after the closure of ``CurlClient/perform(_:deadlines:clock:_:)`` has returned.
    package var silenceInBody: Duration = .seconds(4)
    /// When everything must be over, the answer's body included if it is read in the closure.
    package var end: ContinuousClock.Instant

    /// - Parameter end: When everything must be over.
    package init(end: ContinuousClock.Instant) { self.end = end }

    /// One limit for all of a transfer, which begins now.
    package init(within limit: Duration) {
        end = .now + limit
        (connect, silence, silenceInBody) = (limit, limit, limit)
    }
}
