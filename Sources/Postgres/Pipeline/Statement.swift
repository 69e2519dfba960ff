/// A statement on its way to an answer.
final class Statement {
    enum Content: Sendable {
        case query(PostgresQuery)
        /// Statements separated by semicolons, without parameters.
        case script(String)
    }

    enum Purpose {
        /// Any connection will do, along with statements of others.
        case shared
        /// It belongs to the lease of its connection.
        case leased
        /// It sets up a connection that was just opened.
        case setUp
        /// It is the connection's own.
        case upkeep
    }

    typealias Completion = (Result<PostgresRows, PostgresError>) -> Void

    let id: UInt64
    let content: Content
    /// How long it may take; nil for no limit.
    let timeout: Duration?
    let purpose: Purpose
    let start: ContinuousClock.Instant
    /// How often it was sent again.
    ///
    /// That happens only when it surely did not run.
    var retries = 0
    /// Whether it commits a transaction at its end.
    var commits = false
    private var completion: Completion?

    /// Whether it may share a transaction with other statements.
    ///
    /// After one of those undid it, it may not.
    var sharesBatch: Bool { purpose == .shared && retries == 0 }

    init(
        id: UInt64,
        content: Content,
        timeout: Duration?,
        purpose: Purpose,
        start: ContinuousClock.Instant,
        completion: Completion?
    ) {
        self.id = id
        self.content = content
        self.timeout = timeout
        self.purpose = purpose
        self.start = start
        self.completion = completion
    }

    /// A statement of the client's own, which no caller waits for.
    convenience init(_ query: PostgresQuery, timeout: Duration?, purpose: Purpose, start: ContinuousClock.Instant) {
        self.init(id: 0, content: .query(query), timeout: timeout, purpose: purpose, start: start, completion: nil)
    }

    /// Whether the caller was answered, or there is none.
    var isAnswered: Bool { completion == nil }

    /// Answers the caller, once.
    func finish(_ outcome: Result<PostgresRows, PostgresError>) {
        completion?(outcome)
        completion = nil
    }
}
