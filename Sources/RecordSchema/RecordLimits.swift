/// The limits of records.
package enum RecordLimits {
    /// The most bytes of a record's data, as JSON without white space.
    package static let maxBytes = 64 * 1024
    /// How deep arrays and objects may be in each other, the record's own object included.
    package static let maxDepth = 16
    /// The most readers and writers that a record names.
    package static let maxReaderCount = 100
    /// The most members, records and photos that the fields of a record name.
    package static let maxLinkCount = 100
    /// The most records of a call that changes them.
    package static let maxBatchCount = 100
    /// The most records of a page.
    package static let maxPageCount = 200
    /// The most characters of an id.
    package static let maxIDLength = 255
    /// The most records that wait in an inbox.
    ///
    /// A sender may have at most as many of them as are still free.
    package static let maxInboxCount = 10_000
    /// The most records of a user, deleted ones included while they are remembered.
    package static let maxCountPerUser = 100_000
    /// The most records of one author that another member reads as a named reader.
    package static let maxCountPerReader = 50_000
}
