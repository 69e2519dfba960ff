/// A connection of a pool, with what is to happen to it once nothing is under way.
final class PoolMember {
    let id: PoolStateMachine.ConnectionID
    let connection: PipelinedConnection
    /// The lease that it belongs to.
    fileprivate(set) var lease: PoolMembers.LeaseID?
    /// Whether a statement of its lease was sent.
    var isLeaseUsed = false
    /// Whether its lease has ended, and it is free once nothing is under way.
    var isReturning = false
    /// Whether it is to be closed once nothing is under way.
    var isDoomed = false

    init(id: PoolStateMachine.ConnectionID, connection: PipelinedConnection) {
        self.id = id
        self.connection = connection
    }
}

/// The connections of a pool and their leases.
///
/// A session may end at any time: by a failover, an operator or a pooler. As long as nothing was sent in a lease, any other
/// connection does as well, and the caller notices nothing.
struct PoolMembers {
    typealias LeaseID = UInt64

    /// What has a lease's statements.
    enum LeaseState {
        case connected(PoolMember)
        /// Its connection was lost before anything was sent on it.
        case replaceable
        case lost(PostgresError)
        case ended
    }

    private struct LostLease {
        let error: PostgresError
        /// Whether nothing was sent, and no other connection was asked for.
        var isReplaceable: Bool
    }

    private(set) var all: [PoolMember] = []
    /// Leases that have not ended, and have no connection any more.
    private var lostLeases: [LeaseID: LostLease] = [:]

    subscript(id: PoolStateMachine.ConnectionID) -> PoolMember? { all.first { $0.id == id } }

    mutating func append(_ member: PoolMember) { all.append(member) }

    /// Removes a connection that is not leased.
    mutating func remove(_ id: PoolStateMachine.ConnectionID) { all.removeAll { $0.id == id } }

    /// Removes a connection that was lost.
    ///
    /// - Parameters:
    ///   - id: The connection.
    ///   - error: Why it was lost.
    /// - Returns: The connection, if it was here.
    mutating func lose(_ id: PoolStateMachine.ConnectionID, _ error: PostgresError) -> PoolMember? {
        guard let position = all.firstIndex(where: { $0.id == id }) else { return nil }
        let member = all.remove(at: position)
        if let lease = member.lease {
            lostLeases[lease] = LostLease(error: error, isReplaceable: !member.isLeaseUsed)
        }
        return member
    }

    /// Assigns a connection to a lease, a new one or one whose connection was lost.
    mutating func assign(_ member: PoolMember, to lease: LeaseID) {
        lostLeases[lease] = nil
        member.lease = lease
    }

    /// What has a lease's statements now.
    func state(of lease: LeaseID) -> LeaseState {
        if let member = all.first(where: { $0.lease == lease }) { return .connected(member) }
        guard let lost = lostLeases[lease] else { return .ended }
        return lost.isReplaceable ? .replaceable : .lost(lost.error)
    }

    /// Lets a lost lease get no other connection from now on.
    mutating func stopReplacing(_ lease: LeaseID) { lostLeases[lease]?.isReplaceable = false }

    /// Ends a lease.
    ///
    /// - Returns: Its connection, if it still has one.
    mutating func end(_ lease: LeaseID) -> PoolMember? {
        lostLeases[lease] = nil
        guard let member = all.first(where: { $0.lease == lease }) else { return nil }
        member.lease = nil
        member.isLeaseUsed = false
        member.isReturning = true
        return member
    }
}
