package import Budgets

/// The memory that lists of photos, and answers about records and members, share in a process.
///
/// The holders are users, by their ids.
package struct ListBudget: Sendable {
    /// The bytes of lists that were sent before, those included that are still being sent.
    ///
    /// A user has room for the longest list that is kept, and for the one that takes its place.
    package var kept = ByteBudget<Int>(maxBytes: 48 << 20, maxBytesPerHolder: 12 << 20)
    /// The lists that are made while their clients read.
    ///
    /// Each holds up to 250 rows, of two kilobytes at most, and two pieces of JSON: usually about 200 KiB.
    package var streams = Places<Int>(.init("LISTS_STREAMED", per: "USER"), limits: .init(total: 128, perHolder: 32))

    /// The answers of records, changes, members and batches: while they are made, and until the socket has taken their
    /// last byte.
    ///
    /// So it counts what slow clients hold. A session has room for six pages of the largest size, and a user for twelve.
    package var answers = ByteBudget<Int>(maxBytes: 128 << 20, maxBytesPerHolder: 24 << 20)
    /// How long an answer is under way before it may be ended to make room for a user who holds less.
    package var minTimeOfAnswers: Duration = .seconds(30)

    package init() {}
}
