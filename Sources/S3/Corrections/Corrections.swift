import FoundationEssentials
import NIOHTTP1

/// Decides what to correct after a refusal: each value once in a call.
///
/// It does no I/O.
///
/// A wrong region is 301, 307 or 400 with the right one in a header or in `<Region>`. HEAD's answers have no document,
/// so a bare 400 may mean a wrong region or expired keys. Sources: AWS, "Error responses", list of error codes, and
/// "HeadBucket".
struct Corrections {
    enum Correction: Equatable {
        /// The bucket is somewhere else.
        case address(S3Configuration)
        /// The answer was lost or does not say what is wrong. A request without a body gets a document that does.
        case ask
        /// The store's clock is this many seconds ahead of ours.
        case clock(TimeInterval)
        /// The store no longer takes the keys.
        case credentials
    }

    private enum Kind {
        case address, ask, clock, credentials
    }

    private var done: Set<Kind> = []
    private let mayAsk: Bool

    /// Signatures hold for 15 minutes to either side of the store's clock (AWS, "Signing and authenticating REST
    /// requests", section "Time stamp requirement").
    private static let clockToleranceSeconds: TimeInterval = 15 * 60

    /// - Parameter mayAsk: False for the request that asks.
    init(mayAsk: Bool) {
        self.mayAsk = mayAsk
    }

    /// Decides what to correct before the same request is sent again; nil when there is nothing.
    ///
    /// - Parameters:
    ///   - error: How the last attempt ended.
    ///   - method: The request's.
    ///   - facts: The facts that the attempt used.
    ///   - date: Our own time of the attempt.
    /// - Returns: What to correct.
    mutating func next(
        after error: S3Error,
        to method: HTTPMethod,
        with facts: StoreFacts,
        at date: Date
    ) -> Correction? {
        if Self.isLost(error), mayAsk, done.insert(.ask).inserted { return .ask }
        guard case .refused(let failure) = error,
            let (kind, correction) = Self.correction(of: failure, isBare: method == .HEAD, facts: facts, date: date),
            kind != .ask || mayAsk, done.insert(kind).inserted
        else { return nil }
        return correction
    }

    /// Whether the answer, or its document, was lost because the body was still being sent.
    private static func isLost(_ error: S3Error) -> Bool {
        switch error {
        case .unavailable(let failure): failure.brokeOffBody && failure.status == nil
        case .refused(let failure), .notFound(let failure): failure.brokeOffBody && failure.code == nil
        default: false
        }
    }

    private static func correction(
        of failure: S3Failure,
        isBare: Bool,
        facts: StoreFacts,
        date: Date
    ) -> (Kind, Correction)? {
        let status = failure.status ?? 0
        if failure.code == "RequestTimeTooSkewed" || (isBare && status == 403) {
            let needed = failure.code == nil ? clockToleranceSeconds : 0
            guard let offset = failure.date?.timeIntervalSince(date).rounded(),
                abs(offset - facts.clockOffset) > needed
            else { return nil }
            return (.clock, .clock(offset))
        }
        if ["ExpiredToken", "TokenRefreshRequired", "InvalidToken"].contains(failure.code) {
            return (.credentials, .credentials)
        }
        let isElsewhere = status == 301 || status == 307 || failure.code == "AuthorizationHeaderMalformed"
        guard isElsewhere || (isBare && status == 400) else { return nil }
        guard let region = failure.bucketRegion else { return (.ask, .ask) }
        // The region may have been right, and the endpoint that of another.
        guard let moved = facts.configuration.moved(to: region), moved != facts.configuration else {
            return isBare && status == 400 ? (.ask, .ask) : nil
        }
        return (.address, .address(moved))
    }
}
