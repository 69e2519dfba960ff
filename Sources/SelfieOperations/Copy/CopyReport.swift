/// Which way photos are copied.
package enum CopyDirection: String, CaseIterable, Sendable {
    /// From the bucket to the folder.
    case disk
    /// From the folder to the bucket.
    case s3
}

/// What came of a photo that was to be copied.
package enum CopyOutcome: Int, CaseIterable, Sendable {
    /// It was copied, and what arrived was compared with what was sent.
    case copied
    /// Both stores had the same bytes, or only the destination has any.
    case alreadyThere
    /// It was deleted meanwhile.
    case deleted
    /// Neither store has it.
    case missing
    /// What the source has is shorter or longer than what was uploaded; it was not copied.
    case damaged
}

/// How often what came of photos that were to be copied.
package struct CopyReport: Sendable {
    private var counts: [CopyOutcome: Int] = [:]

    /// How often something came of a photo.
    ///
    /// - Parameter outcome: What came of it.
    package internal(set) subscript(outcome: CopyOutcome) -> Int {
        get { counts[outcome] ?? 0 }
        set { counts[outcome] = newValue }
    }

    /// Whether the destination has all photos.
    package var isComplete: Bool { self[.missing] == 0 && self[.damaged] == 0 }
}
