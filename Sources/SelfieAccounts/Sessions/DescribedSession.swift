package import Encodings
package import FoundationEssentials

/// A session as its user and administrators see it.
package struct DescribedSession: Sendable, Encodable {
    package let id: Int
    /// Nil for a session without a label, or from before there were labels.
    @Nullable package var device: String?
    package let createdAt: Date
    /// Exact to about a minute.
    package let lastUsedAt: Date
    package let expiresAt: Date
}
