package import Budgets
package import ObjectStore

/// The permits that clients share in a process, with the limits for all and for one.
///
/// The holders are users by their ids, if nothing else is said.
package struct WebPermits: Sendable {
    /// The notes of calls that failed and may have written, see ``WriteNote``; the holders are sessions.
    ///
    /// Each takes a connection to a database that may be overloaded.
    let notesAfterFailure = Permits<Int>("NOTES_AT_ONCE", per: "SESSION", PermitLimits(total: 4))
    /// How long such a call waits for its note.
    package var maxNoteTime: Duration = .seconds(1)
    /// The requests of a session that are being answered; the holders are sessions.
    ///
    /// Without a limit, one user could fill the queue for the database. The sessions of a user count apart. So a stolen token
    /// takes nothing from the owner's other sessions.
    let sessionRequests = Permits<Int>("REQUESTS_AT_ONCE", per: "SESSION", PermitLimits(total: .max, perHolder: 40))
    /// The bytes of uploads that wait for the store.
    package var uploads = SpoolBudget()
    /// The lists of photos that are being made from rows.
    let listRequests = Permits<Int>("LISTS_AT_ONCE", per: "USER", PermitLimits(total: .max, perHolder: 32))
    /// The lists of photos that are made while their clients read.
    ///
    /// Each holds up to 250 rows, of two kilobytes at most, and two pieces of JSON: usually about 200 KiB.
    package var listStreams = Permits<Int>("LISTS_STREAMED", per: "USER", PermitLimits(total: 128, perHolder: 32))
    /// The bytes of cached lists, those included that are still being sent.
    ///
    /// A user has room for the longest list that is cached, and for the one that replaces it.
    package var cachedLists = Permits<Int>("MEMORY", per: "USER", PermitLimits(total: 48 << 20, perHolder: 12 << 20))
    /// The bytes of answers about records, changes, members and batches: while they are made, and until the socket has taken
    /// their last byte.
    ///
    /// So slow clients are counted. A session has room for six pages of the largest size, and a user for twelve.
    package var answers = Permits<Int>("MEMORY", per: "USER", PermitLimits(total: 128 << 20, perHolder: 24 << 20))
    /// How long an answer is under way before it may be ended to make room for a user who holds less.
    package var minTimeOfAnswers: Duration = .seconds(30)
    /// The bytes of bodies with records.
    package var recordBodies = Permits<Int>("MEMORY", per: "USER", PermitLimits(total: 64 << 20, perHolder: 16 << 20))
    /// The lists of records with several conditions that are read.
    ///
    /// Each may look at thousands of rows for nothing.
    package var searches = Permits<Int>("SEARCHES_AT_ONCE", per: "USER", PermitLimits(total: 16, perHolder: 4))
    /// The exports that are sent.
    ///
    /// Each holds about 2 MiB of memory, and a photo and lists in temporary files.
    package var exports = Permits<Int>("EXPORTS_AT_ONCE", per: "USER", PermitLimits(total: 8, perHolder: 1))
    /// The photos that are sent; the holders are IPv4 addresses, and /64 networks of IPv6 addresses.
    private(set) var downloads = Permits<String>("DOWNLOADS_AT_ONCE", per: "ADDRESS", PermitLimits(total: 0))
    /// The same; the holders are IPv4 addresses, and /48 networks of IPv6 addresses.
    private(set) var downloadsOfSites = Permits<String>("DOWNLOADS_AT_ONCE", per: "SITE", PermitLimits(total: 0))
    /// The clients that wait for changes.
    private(set) var streams = Permits<Int>("STREAMS_AT_ONCE", per: "USER", PermitLimits(total: 0))

    /// The usual limits, and no downloads and no streams yet.
    package init() {}

    /// Sets the limits that depend on how many connections there may be.
    ///
    /// - Parameters:
    ///   - limits: How many photos are sent at once, and how many of them to one address.
    ///   - maxStreams: How many clients may wait for changes at once.
    package mutating func setLimits(ofDownloads limits: PermitLimits, maxStreams: Int) {
        downloads = Permits("DOWNLOADS_AT_ONCE", per: "ADDRESS", limits)
        // A /48 network may have twice as many as a /64, and leaves a quarter to others.
        let perSite = max(limits.perHolder, min(limits.perHolder * 2, limits.total * 3 / 4))
        downloadsOfSites = Permits(
            "DOWNLOADS_AT_ONCE",
            per: "SITE",
            PermitLimits(total: limits.total, perHolder: perSite, thresholdFactor: 3)
        )
        streams = Permits("STREAMS_AT_ONCE", per: "USER", PermitLimits(total: maxStreams, perHolder: 10))
    }
}
