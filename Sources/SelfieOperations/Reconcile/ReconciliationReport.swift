/// What a comparison of rows and objects found, and what was done about it.
package struct ReconciliationReport: Sendable {
    /// What can be wrong.
    package enum Kind: Int, CaseIterable, Sendable {
        /// An object that belongs to no photo; repaired by deleting it.
        case objectWithoutPhoto
        /// A photo whose object is gone; repaired by deleting the row, since there is nothing left to show.
        case photoWithoutObject
        /// A photo whose object has another length than the one that was stored; nothing can repair that.
        case otherLength
        /// A put that a crash left behind; repaired by removing what is there of it.
        case unfinishedPut
    }

    /// How often something was found, and repaired.
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

    /// What was found of a kind.
    ///
    /// - Parameter kind: The kind.
    package internal(set) subscript(kind: Kind) -> Count {
        get { counts[kind] ?? Count() }
        set { counts[kind] = newValue }
    }

    /// Whether nothing is wrong, or nothing any more.
    package var isClean: Bool { counts.values.allSatisfy { $0.found == $0.repaired } }
}

/// One thing that is wrong.
package struct ReconciliationFinding: Sendable {
    /// What is wrong.
    package let kind: ReconciliationReport.Kind
    /// The key of the object, which is the photo's `random_id`.
    package let key: String
    /// Whether it was put right.
    package let isRepaired: Bool
}

/// Why nothing was repaired.
package enum ReconciliationError: Error, CustomStringConvertible {
    /// So much does not match that the database and the store are probably not of one installation.
    case suspicious(kind: ReconciliationReport.Kind, count: Int, of: Int)

    package var description: String {
        switch self {
        case .suspicious(.photoWithoutObject, let count, let total):
            """
            Nothing was repaired: \(count) of \(total) photos have no object, which looks as if this were another \
            installation's bucket or folder. If it is the right one, run again with --force; the rows are deleted then.
            """
        case .suspicious(_, let count, let total):
            """
            Nothing was repaired: \(count) of \(total) objects belong to no photo, which looks as if this were another \
            installation's database, or a bucket that holds other things too. If all of them may go, run again with \
            --force; they are deleted then.
            """
        }
    }
}
