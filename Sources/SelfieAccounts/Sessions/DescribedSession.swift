package import FoundationEssentials

/// A session as its user sees it.
package struct DescribedSession: Sendable {
    package let id: Int
    /// Nil for a session without a label, or from before there were labels.
    package let device: String?
    package let creation: Date
    /// Exact to about a minute.
    package let lastUse: Date
    package let expiry: Date
}
