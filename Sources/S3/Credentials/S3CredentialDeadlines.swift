/// How long asking for temporary credentials may take.
///
/// The endpoints are on the same machine, so they answer at once or not at all. Together less than what
/// ``S3Deadlines/giveUp`` allows a call, which may have to wait for it.
package struct S3CredentialDeadlines: Sendable, Hashable {
    /// The most tries of one fetch.
    package static let maxTries = 3
    /// The most bytes of an answer that are read; credentials have about 2,000.
    package static let maxAnswerBytes = 64 * 1024

    /// For one try: connecting, all of its requests, their answers.
    package var attempt: Duration = .seconds(2)
    /// For all tries together; what is left of it bounds the last one.
    package var fetch: Duration = .seconds(4)
    /// Before the second try; before the third it is twice as long.
    package var pause: Duration = .milliseconds(200)

    /// The deadlines in use; change single ones after.
    package init() {}
}
