/// How many new photos of each user wait until their small pictures are made.
struct BacklogCounts {
    private var counts: [Int: Int] = [:]

    /// The most photos of one user, so that a few busy users do not keep out all others.
    private static let maxPerUser = 100

    /// Counts a photo.
    ///
    /// - Parameter userID: Its owner.
    /// - Returns: Whether it may wait.
    mutating func enter(_ userID: Int) -> Bool {
        guard counts[userID, default: 0] < Self.maxPerUser else { return false }
        counts[userID, default: 0] += 1
        return true
    }

    /// A photo that was counted no longer waits.
    mutating func leave(_ userID: Int) {
        let count = counts[userID, default: 1] - 1
        counts[userID] = count > 0 ? count : nil
    }
}
