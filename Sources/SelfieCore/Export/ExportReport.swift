/// Why a photo is not in an export.
package enum MissingPhoto: String, Sendable, CaseIterable {
    case deleted = "deleted meanwhile"
    case noObject = "the store does not have it"
    case otherLength = "what the store has is damaged"
    case tooLarge = "larger than an export may have: fetch it by its URL"
}

/// How an export ended.
package struct ExportReport: Sendable, Equatable {
    /// The photos in the archive.
    package internal(set) var photoCount = 0
    /// The photos that are named as missing.
    package internal(set) var missingCount = 0
}
