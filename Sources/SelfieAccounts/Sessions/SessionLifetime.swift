import FoundationEssentials

/// How long a session lives.
enum SessionLifetime: Sendable, Equatable {
    /// It has a fixed end.
    case fixed(hours: Int)
    /// It lives until it is ended, or was not used for so many days.
    case remembered(maxUnusedDays: Int)

    /// From its beginning to its end, if it is never used.
    var seconds: TimeInterval {
        switch self {
        case .fixed(let hours): TimeInterval(hours * 3_600)
        case .remembered(let days): TimeInterval(days * 86_400)
        }
    }

    /// After how many days without use it ends; nil for one with a fixed end.
    var maxUnusedDays: Int? {
        switch self {
        case .fixed: nil
        case .remembered(let days): days
        }
    }
}

/// How long the sessions of a service live.
struct SessionLifetimes: Sendable {
    let usual: SessionLifetime
    /// Of sessions whose clients ask to be remembered.
    let remembered: SessionLifetime
}
