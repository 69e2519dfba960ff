import Budgets
import ObjectStore
import SelfieCore

/// The limits that refuse requests, by the names that metrics have for them.
enum RefusingLimit {
    /// The limit that is behind an error; nil when it is none.
    static func name(of error: any Error) -> String? {
        switch error {
        case let error as RateLimitExceeded: error.name.rawValue
        case NoPlace.holderHasAll: "AT_ONCE_PER_USER"
        case NoPlace.allTaken: "AT_ONCE"
        case FairLineRefusal.ownLineFull: "HASHES_WAITING_PER_CALLER"
        case is FairLineRefusal: "HASHES_WAITING"
        case is SpoolError: "SPOOL"
        case PhotoError.noRoom: "PHOTO_QUOTA"
        default: nil
        }
    }
}
