/// A statement on its way to an answer.
final class Statement {
    enum Content: Sendable {
        case query(PostgresQuery)
        /// Statements separated by semicolons, without parameters.
        case script(String)
    }

    enum Purpose: Equatable {
        /// Any connection will do.
        case unleased
        case leased(UInt64)
        /// It sets up a connection that was just opened.
        case setUp
    }

    typealias Completion = (Result<PostgresRows, PostgresError>) -> Void

    let id: UInt64
    let content: Content
    /// How long it may take; nil for no limit.
    let timeout: Duration?
    let purpose: Purpose
    /// When its time is over, once it was sent to a session; nil for no limit.
    var deadline: ContinuousClock.Instant?
    /// How often it was sent again.
    ///
    /// That happens only when it surely did not run.
    var retries = 0
    private var completion: Completion?

    init(id: UInt64, content: Content, timeout: Duration?, purpose: Purpose, completion: Completion?) {
        self.id = id
        self.content = content
        self.timeout = timeout
        self.purpose = purpose
        self.completion = completion
    }

    /// The first statement of a session, which no caller waits for.
    convenience init(setUp query: PostgresQuery, timeout: Duration) {
        self.init(id: 0, content: .query(query), timeout: timeout, purpose: .setUp, completion: nil)
    }

    /// Answers the caller, once.
    func finish(_ outcome: Result<PostgresRows, PostgresError>) {
        completion?(outcome)
        completion = nil
    }
}
