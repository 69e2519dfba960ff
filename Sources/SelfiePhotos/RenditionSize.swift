/// The sizes of small pictures that clients may ask for.
package enum RenditionSize: String, CaseIterable, Sendable {
    case small
    case medium

    /// The length of the longer side in pixels.
    package var longerSide: Int {
        switch self {
        case .small: 320
        case .medium: 1280
        }
    }
}

/// A photo, and the state of its small picture.
package struct SizedPhoto: Sendable {
    package enum Rendition: Sendable {
        /// It was never made.
        case missing
        /// A process makes it.
        case pending
        case ready(ServedPhoto)
        /// The photo is its own small one.
        case original
        /// It can't be made, or not now.
        case failed(isFinal: Bool)
    }

    /// The original.
    package let original: ServedPhoto
    /// The owner's id.
    package let userID: Int
    package let rendition: Rendition

    init(original: ServedPhoto, userID: Int, rendition: Rendition) {
        (self.original, self.userID, self.rendition) = (original, userID, rendition)
    }

    /// A photo that is wanted in its own size.
    ///
    /// - Parameter original: The photo.
    package init(original: ServedPhoto) {
        self.init(original: original, userID: 0, rendition: .original)
    }

    /// Whether the small picture may be there soon.
    package var isAwaited: Bool {
        switch rendition {
        case .missing, .pending: true
        case .ready, .original, .failed: false
        }
    }

    /// Whether the same request may get another answer later.
    package var isTemporary: Bool {
        switch rendition {
        case .missing, .pending: true
        case .failed(let isFinal): !isFinal
        // Its object may be missing.
        case .ready: true
        case .original: false
        }
    }
}
