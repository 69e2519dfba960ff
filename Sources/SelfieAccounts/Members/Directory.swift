/// Which members to list.
package struct DirectorySelection: Sendable {
    /// The most members of a page.
    package static let maxLimit = 100
    /// How many members a page has by default.
    package static let usualLimit = 50

    /// What a full name, a last name or a title begins with, ignoring case; nil for all members.
    let beginning: String?
    /// The id of the last member of the page before; nil for the first page.
    let after: String?
    /// The most members, up to ``maxLimit``.
    let limit: Int

    /// - Parameters:
    ///   - beginning: What a full name, a last name or a title begins with; a blank one is none.
    ///   - after: The id of the last member of the page before.
    ///   - limit: The most members, up to ``maxLimit``.
    package init(beginning: String?, after: String?, limit: Int?) {
        self.beginning = beginning.flatMap { $0.isEmpty ? nil : $0 }
        self.after = after
        self.limit = min(limit ?? Self.usualLimit, Self.maxLimit)
    }
}

/// A page of the directory.
package struct DirectoryPage: Sendable {
    package let members: [Member]
    /// The `after` of the next page; nil on the last page.
    package let next: String?
}
