/// The direction of a copy.
package enum CopyDirection: String, CaseIterable, Sendable {
    /// From the bucket to the folder.
    case disk
    /// From the folder to the bucket.
    case s3
}

/// The outcome of copying a photo.
package enum CopyOutcome: Int, CaseIterable, Sendable {
    /// It was copied, and the copy was compared.
    case copied
    /// Both stores had the same bytes, or only the destination has it.
    case alreadyThere
    /// It was deleted meanwhile.
    case deleted
    /// A small picture that is lost or damaged. It is made again when somebody asks for it.
    case forgotten
    /// Neither store has it.
    case missing
    /// The source's object is shorter or longer than the upload was. It was not copied.
    case damaged
}

extension OutcomeCounts<CopyOutcome> {
    /// Whether the destination has all photos.
    package var isComplete: Bool { self[.missing] == 0 && self[.damaged] == 0 }
}
