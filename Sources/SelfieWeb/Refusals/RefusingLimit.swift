import Budgets
import Postgres
import SelfieAccounts
import SelfiePhotos

/// The limits that refuse requests, by the names that metrics have for them.
enum RefusingLimit {
    /// The limit that is behind an error; nil when it is none.
    static func name(of error: any Error) -> String? {
        switch error {
        case let error as RateLimitExceeded: error.name.rawValue
        case TooBusy.holder(let limit), TooBusy.everyone(let limit): limit
        case PostgresError.tooManyWaiting: "DATABASE_LINE"
        case PhotoError.noRoom: "PHOTO_QUOTA"
        default: ServiceError(error).code == ServiceError.bodyTooLarge.code ? "REQUEST_BYTES" : nil
        }
    }
}
