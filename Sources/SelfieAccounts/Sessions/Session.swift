package import FoundationEssentials

/// A sign-in that has not ended, with its user and the end of its token.
package struct Session: Sendable {
    package let id: Int
    /// The id of its user that other members see.
    package let memberID: String
    /// The summary of the user's photos.
    package let library: PhotoLibrary
    let expiry: Date
    /// After how many days without use it ends; nil for one with a fixed end.
    let maxUnusedDays: Int?
    /// How many calls of the session may have changed something.
    let writeCount: Int

    package var userID: Int { library.userID }
    /// The user, for URLs of others' photos.
    package var photoReader: PhotoReader { PhotoReader(memberID: memberID, urlSeries: library.urlSeries) }

    package func isExpired(at date: Date) -> Bool {
        expiry <= date
    }
}
