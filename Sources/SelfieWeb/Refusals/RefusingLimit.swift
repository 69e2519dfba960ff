import Budgets
import ObjectStore
import Postgres
import SelfieCore

/// The limits that refuse requests, by the names that metrics have for them.
enum RefusingLimit {
    /// The limit that is behind an error; nil when it is none.
    static func name(of error: any Error) -> String? {
        switch error {
        case let error as RateLimitExceeded: error.name.rawValue
        case NoPlace.holderHasAll(let limit), NoPlace.allTaken(let limit): limit
        case NoBytes.holderHasAll: "MEMORY_PER_USER"
        case NoBytes.allTaken: "MEMORY"
        case FairLineRefusal.ownLineFull: "HASHES_WAITING_PER_CALLER"
        case is FairLineRefusal: "HASHES_WAITING"
        case is SpoolError: "SPOOL"
        case PostgresError.tooManyWaiting: "DATABASE_LINE"
        case PhotoError.noRoom: "PHOTO_QUOTA"
        default: ServiceError(error).code == ServiceError.bodyTooLarge.code ? "REQUEST_BYTES" : nil
        }
    }
}
