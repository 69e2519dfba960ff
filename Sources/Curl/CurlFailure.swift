/// A transfer that brought no answer, or not all of it.
package struct CurlFailure: Error {
    package let reason: CurlError
    /// When a byte last went either way, or the start.
    package let lastProgress: ContinuousClock.Instant
    /// Whether libcurl took a part of the request's body.
    package let hasSentBody: Bool
}

extension CurlFailure: CustomStringConvertible {
    /// One line for a log.
    package var description: String { reason.description }
}
