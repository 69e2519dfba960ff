/// The result of comparing rows and objects, with the repairs.
package struct ReconciliationReport: Sendable {
    /// The kinds of differences.
    package enum Kind: Int, CaseIterable, Sendable {
        /// An object that belongs to no photo. The repair deletes it.
        case objectWithoutPhoto
        /// A photo without an object. The repair deletes the row, because nothing is left to show.
        case photoWithoutObject
        /// A photo whose object has the wrong length. There is no repair.
        case otherLength
        /// A small picture whose object is missing or has another length. The repair has it made again.
        case renditionWithoutObject
        /// A put that a crash left behind. The repair removes what it stored.
        case unfinishedPut
        /// An old version of a deleted photo. The repair deletes it.
        case versionWithoutPhoto
    }

    /// How often a difference was found and repaired.
    package struct Count: Sendable {
        /// How often it was found.
        package var found = 0
        /// How often it was repaired.
        package var repaired = 0
    }

    /// How many photos there are.
    package internal(set) var photoCount = 0
    /// How many objects there are.
    package internal(set) var objectCount = 0
    private var counts: [Kind: Count] = [:]

    /// The counts of a kind.
    ///
    /// - Parameter kind: The kind.
    package internal(set) subscript(kind: Kind) -> Count {
        get { counts[kind] ?? Count() }
        set { counts[kind] = newValue }
    }

    /// Whether no difference is left.
    package var isClean: Bool { counts.values.allSatisfy { $0.found == $0.repaired } }
}

/// One difference.
package struct ReconciliationFinding: Sendable {
    /// The kind of difference.
    package let kind: ReconciliationReport.Kind
    /// The key of the object, which is the photo's `random_id`.
    package let key: String
    /// Whether it was repaired.
    package let isRepaired: Bool
}

/// Why nothing was repaired.
package enum ReconciliationError: Error, CustomStringConvertible {
    /// There are so many differences that database and store are probably of different installations.
    case suspicious(kind: ReconciliationReport.Kind, count: Int, of: Int)

    package var description: String {
        switch self {
        case .suspicious(.photoWithoutObject, let count, let total):
            """
            Nothing was repaired: \(count) of \(total) photos have no object. This seems to be another installation's \
            bucket or folder. If it is the right one, run again with --force to delete the rows.
            """
        case .suspicious(.versionWithoutPhoto, let count, let total):
            """
            No old version was deleted: they are of \(count) deleted photos, and there are only \(total) photos. This \
            may be another installation's database. Look with --dry-run. To delete them, run again with --force.
            """
        case .suspicious(_, let count, let total):
            """
            Nothing was repaired: \(count) of \(total) objects belong to no photo. This seems to be another \
            installation's database, or a bucket that holds other things too. To delete all of these, run again with \
            --force.
            """
        }
    }
}
