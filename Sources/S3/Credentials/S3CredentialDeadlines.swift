/// How long asking for temporary credentials may take.
///
/// The endpoints are on the same machine, so they answer at once or not at all. All together is less than what
/// ``S3Deadlines/giveUp`` allows a call, because a call may wait for it.
package struct S3CredentialDeadlines: Sendable, Hashable {
    /// The most attempts of one fetch.
    static let maxAttempts = 3
    /// The most bytes of an answer that are read.
    ///
    /// Credentials have about 2,000.
    static let maxAnswerBytes = 64 * 1024

    /// For one attempt: connecting, all of its requests, their answers.
    package var attempt: Duration = .seconds(2)
    /// For all attempts together.
    ///
    /// The last attempt gets the rest of it.
    package var fetch: Duration = .seconds(4)
    /// Before the second attempt; before the third it is twice as long.
    package var pause: Duration = .milliseconds(200)

    /// The usual deadlines.
    ///
    /// Change single ones after making this.
    package init() {}
}
