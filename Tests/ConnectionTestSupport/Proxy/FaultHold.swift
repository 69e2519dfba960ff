import NIOCore

/// How long a ``FaultyProxy`` holds what it delays or stalls.
package enum FaultHold: Sendable {
    /// For a time. A delay outlasts clients, which wait for four seconds; a stall outlasts anybody who waits for it.
    case real(delay: Duration = .seconds(5), stall: Duration = .seconds(120))
    /// Until the client closes the connection, which it has a reason for once the closure was called,
    /// perhaps several times.
    case untilClientLeaves(@Sendable (FaultyProxy.Record) -> Void)

    /// Holds requests that reach the store after their client has given up.
    func delay(_ record: FaultyProxy.Record, of client: ConnectionEnd) async throws {
        switch self {
        case .real(let delay, _): try await Task.sleep(for: delay)
        case .untilClientLeaves(let tell): try await client.wait(after: tell, record)
        }
    }

    /// Holds what gets no answer, or no more of it.
    func stall(_ record: FaultyProxy.Record, of client: ConnectionEnd) async throws {
        switch self {
        case .real(_, let stall): try await Task.sleep(for: stall)
        case .untilClientLeaves(let tell): try await client.wait(after: tell, record)
        }
    }
}

/// The end of a connection that was taken.
struct ConnectionEnd: Sendable {
    let channel: any Channel

    /// Makes the client disconnect, unless it has, and waits until it has.
    ///
    /// A sign of life that the client notes late puts its deadline off. So it is told again.
    fileprivate func wait(
        after tell: @escaping @Sendable (FaultyProxy.Record) -> Void,
        _ record: FaultyProxy.Record
    ) async throws {
        let teller = Task {
            while channel.isActive, !Task.isCancelled {
                tell(record)
                try await Task.sleep(for: .seconds(1))
            }
        }
        defer { teller.cancel() }
        try await channel.closeFuture.get()
    }
}
