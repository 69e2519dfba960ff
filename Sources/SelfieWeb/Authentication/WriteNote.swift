import Budgets
import HTTPTypes
import Postgres

/// Whether a call that has failed is noted like a write of its session.
///
/// A standby may answer the session's next call. It must have what this call may have written, and what its refusal has shown.
enum WriteNote {
    /// Nothing was written, and nothing was shown that the client would look for.
    case unneeded
    /// The client was told of the primary's rows. It looks at them next.
    case required
    /// The write may be in effect. Nothing depends on the note alone: a client that repeats the write may get a conflict, which is
    /// noted.
    case attempted

    /// Decides on the error of a call that may change something.
    init(after error: any Error) {
        self =
            switch ServiceError(error).status {
            case .notFound, .conflict, .preconditionFailed: .required
            case .internalServerError, ServiceError.clientGone.status: .attempted
            case .serviceUnavailable: Self.mayHaveWritten(error) ? .attempted : .unneeded
            default: .unneeded
            }
    }

    /// Whether the write may be in effect after an error for which the client gets 503.
    ///
    /// Where there was no connection, or too much to do, nothing was written. Then a note would only be one more statement.
    private static func mayHaveWritten(_ error: any Error) -> Bool {
        switch error {
        case let error as PostgresError: error.mayHaveTakenEffect
        case let error as PostgresTransactionError: error.postgresError.mayHaveTakenEffect
        case is TooBusy: false
        default: true
        }
    }
}
