/// Who may use which connection next: a pool's decisions, without its I/O.
///
/// At most `connectionsMax` leases are out at a time. Callers beyond that wait, first come, first served.
struct PoolStateMachine<Connection> {
    typealias WaiterID = UInt64

    enum LeaseAction {
        /// Use this idle connection.
        case use(Connection)
        /// Open a connection.
        case open
        /// Wait until `giveBack` names this waiter.
        case wait
        /// The pool is closed.
        case refuse
    }

    enum ReturnAction {
        case none
        /// Hand the connection to a waiter, or tell it to open one when there is none.
        case hand(Connection?, to: WaiterID)
        /// The pool is closed: close the connection.
        case close(Connection)
    }

    private let connectionsMax: Int
    private var idle: [Connection] = []
    private var leaseCount = 0
    private var waiters: [WaiterID] = []
    private var isClosed = false

    init(connectionsMax: Int) {
        self.connectionsMax = connectionsMax
    }

    /// A caller asks for a connection.
    mutating func lease(waiter: WaiterID) -> LeaseAction {
        if isClosed { return .refuse }
        guard leaseCount < connectionsMax else {
            waiters.append(waiter)
            return .wait
        }
        leaseCount += 1
        // The most recently used one, so that the others can grow old and be closed.
        return idle.popLast().map { .use($0) } ?? .open
    }

    /// A lease ends; nil for a connection that broke or was never opened.
    mutating func giveBack(_ connection: Connection?) -> ReturnAction {
        if !waiters.isEmpty { return .hand(connection, to: waiters.removeFirst()) }
        leaseCount -= 1
        guard let connection else { return .none }
        if isClosed { return .close(connection) }
        idle.append(connection)
        return .none
    }

    /// A caller stops waiting; false when it was handed a connection before it could.
    mutating func cancel(waiter: WaiterID) -> Bool {
        guard let position = waiters.firstIndex(of: waiter) else { return false }
        waiters.remove(at: position)
        return true
    }

    /// Closes the pool: idle connections are to be closed and waiters refused; leases end in their own time.
    mutating func close() -> (idle: [Connection], waiters: [WaiterID]) {
        defer {
            idle = []
            waiters = []
        }
        isClosed = true
        return (idle, waiters)
    }
}
