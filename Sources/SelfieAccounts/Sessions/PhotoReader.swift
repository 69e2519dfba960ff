/// A member who gets URLs of photos.
package struct PhotoReader: Sendable, Equatable {
    package let memberID: String
    /// The member's present series of URLs, which ends with a new password and when all sessions are ended.
    package let urlSeries: Int

    /// - Parameters:
    ///   - memberID: The id that other members see.
    ///   - urlSeries: The member's present series of URLs.
    package init(memberID: String, urlSeries: Int) {
        self.memberID = memberID
        self.urlSeries = urlSeries
    }
}
