package import SelfieAccounts

/// Which of a user's photos a list has, and in which order.
package struct PhotoSelection: Sendable, Equatable {
    package enum Order: String, Sendable, CaseIterable {
        case oldest
        case newest
    }

    package let order: Order
    /// The most photos; nil for all.
    package let limit: Int?
    /// The id of the photo after which the list begins; nil for the beginning.
    package let after: String?

    /// All photos, oldest first.
    package static let all = PhotoSelection(order: .oldest, limit: nil, after: nil)

    /// The largest `limit`.
    package static let maxLimit = 500

    package init(order: Order, limit: Int?, after: String?) {
        self.order = order
        self.limit = limit
        self.after = after
    }
}

/// The photos of a list, found at one moment.
package struct SelectedPhotos: Sendable {
    /// The library at that moment.
    package let library: PhotoLibrary
    let order: PhotoSelection.Order
    /// The rows' ids in the list's order.
    let ids: [Int]
    /// The id of the last photo, if more follow.
    package let lastBeforeMore: String?

    package var count: Int { ids.count }
}
