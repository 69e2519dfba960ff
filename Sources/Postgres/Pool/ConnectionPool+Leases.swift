/// Statements on leased connections, and what happens when such a connection is lost.
///
/// A session may end at any time: by a failover, an operator or a pooler. As long as nothing was sent in a lease, any other
/// connection does as well, and the caller notices nothing.
extension ConnectionPool {
    struct LostLease {
        let error: PostgresError
        /// Whether nothing was sent, and no other connection was asked for.
        var isReplaceable: Bool
    }

    func send(_ statement: Statement, on lease: LeaseID) {
        if let position = members.firstIndex(where: { $0.lease == lease }) {
            sendLeased(statement, on: position, now: statement.start)
        } else if let lost = lostLeases[lease] {
            guard lost.isReplaceable else { return statement.finish(.failure(lost.error)) }
            lostLeases[lease]?.isReplaceable = false
            request(.lease, as: statement.id, waiter: .replacement(statement, of: lease), now: now)
        } else {
            statement.finish(.failure(.leaseEnded))
        }
    }

    /// Assigns another connection to the rest of a lease.
    func replace(_ lease: LeaseID, by position: Int, for statement: Statement, now: ContinuousClock.Instant) {
        lostLeases[lease] = nil
        members[position].lease = lease
        sendLeased(statement, on: position, now: now)
    }

    /// Notes that the connection of a lease was lost.
    func noteLoss(of member: Member, _ error: PostgresError) {
        guard let lease = member.lease else { return }
        lostLeases[lease] = LostLease(error: error, isReplaceable: !member.isLeaseUsed)
    }

    private func sendLeased(_ statement: Statement, on position: Int, now: ContinuousClock.Instant) {
        let id = members[position].id
        send(statement, on: members[position], now: now)
        if let position = members.firstIndex(where: { $0.id == id }) { members[position].isLeaseUsed = true }
    }
}
