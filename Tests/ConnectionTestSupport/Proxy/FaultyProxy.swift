import NIOCore
import NIOPosix
package import ServerProcesses

/// An HTTP/1.1 proxy before a store that breaks, delays and refuses requests as a seed and the test say.
///
/// It passes on requests unchanged, the signed `Host` included. Requests with a presigned URL have no faults.
package struct FaultyProxy: Sendable {
    /// A request that came by.
    package struct Record: Sendable {
        package let method: String
        package let target: String
        /// The fault's name, or the refusal's code; nil when nothing went wrong.
        package let outcome: String?

        /// What went wrong on the way; nil when nothing did, or the request was refused.
        package var fault: StoreFault? { outcome.flatMap(StoreFault.init(rawValue:)) }

        /// The method and the first parameter, such as `PUT partNumber`.
        package var kind: String {
            let query = target.split(separator: "?").dropFirst().first ?? ""
            let parameter = query.prefix { $0 != "=" && $0 != "&" }
            return parameter.isEmpty ? method : "\(method) \(parameter)"
        }
    }

    /// Where to send requests instead of to the store.
    package let endpoint: String
    private let state: FaultyProxyState

    /// What becomes of a connection after a fault.
    private enum Ending {
        case goesOn, closed, reset, stalled
    }

    /// Runs a body with a proxy, which lets everything pass at first.
    ///
    /// - Parameters:
    ///   - server: The store.
    ///   - seed: Decides what goes wrong.
    ///   - hold: How long it holds what it delays or stalls.
    ///   - body: Uses the proxy.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the proxy from listening.
    package static func with<Result: Sendable>(
        _ server: any S3Server,
        seed: UInt64,
        hold: FaultHold = .real(),
        _ body: (FaultyProxy) async throws -> Result
    ) async throws -> Result {
        let state = FaultyProxyState(seed: seed)
        let storePort = server.endpoint.split(separator: ":").last.flatMap { Int($0) } ?? 0
        let store = StoreConnection(port: storePort)
        return try await HTTPListener.run { connection in
            while let request = try await connection.readHead() {
                let (refusal, fault) = state.decide(request)
                if let refusal {
                    try await connection.skip(request.length)
                    try await connection.write(refusal.bytes(to: request))
                } else if let fault {
                    let record = Record(method: request.method, target: request.target, outcome: fault.rawValue)
                    let ending: Ending
                    do {
                        defer { state.finishFault() }
                        let client = connection.end
                        ending = try await suffer(fault, request, over: &connection, store: store) {
                            try await hold.delay(record, of: client)
                        }
                    }
                    switch ending {
                    case .goesOn: continue
                    case .closed: return
                    case .reset: return try await connection.reset()
                    case .stalled: return try await hold.stall(record, of: connection.end)
                    }
                } else {
                    let answer = try await store.exchange(request, body: request.length, of: &connection)
                    try await connection.write(answer.bytes)
                }
            }
        } _: { port in
            try await body(FaultyProxy(endpoint: "http://127.0.0.1:\(port)", state: state))
        }
    }

    /// All requests so far.
    package var records: [Record] { state.records }
    /// How many requests are suffering a fault at the moment.
    package var faultsUnderWay: Int { state.faultsUnderWay }

    /// Has the next request of a kind go wrong, and no other.
    ///
    /// - Parameters:
    ///   - fault: How.
    ///   - kind: As of a ``Record``.
    package func arm(_ fault: StoreFault, for kind: String) { state.arm(fault, for: kind) }

    /// From now on things go wrong.
    package func beginFaults() { state.set(hasFaults: true) }

    /// From now on nothing goes wrong; what demands were made stay.
    package func endFaults() { state.set(hasFaults: false) }

    /// From now on refuses what is not signed for a region.
    package func demand(region: String) { state.set(region: region) }

    /// From now on refuses temporary keys with another session token.
    package func demand(sessionToken: String) { state.set(sessionToken: sessionToken) }

    /// From now on refuses what was signed more than 15 minutes ago, or ahead.
    package func demandTime() { state.demandTime() }

    /// Has a request go wrong.
    private static func suffer(
        _ fault: StoreFault,
        _ request: ServedRequest,
        over connection: inout ServedConnection,
        store: StoreConnection,
        delay: () async throws -> Void
    ) async throws -> Ending {
        switch fault {
        case .resetAtOnce: return .reset
        case .resetInBody:
            try await store.abandon(request, after: request.length / 2, of: &connection)
            return .reset
        case .stallAtOnce: return .stalled
        case .stallInBody:
            try await store.abandon(request, after: request.length / 2, of: &connection, hold: delay)
            return .stalled
        case .late:
            try await store.exchangeLate(request, of: &connection, delay: delay)
            return .stalled
        case .errorBefore, .errorInSuccess:
            try await connection.skip(request.length)
            let answer = fault == .errorBefore ? StoreAnswer.internalError : .errorInSuccess
            try await connection.write(answer.bytes(to: request))
            return .goesOn
        case .slowDownBefore:
            try await connection.write(StoreAnswer.slowDown.bytes(to: request))
            try await connection.skip(request.length)
            return .goesOn
        case .resetAfter, .stallAfter, .stallInAnswer, .errorAfter, .slowDownAfter, .cutInHead, .cutInBody:
            let answer = try await store.exchange(request, body: request.length, of: &connection)
            return try await spoil(answer, by: fault, request, over: connection)
        }
    }

    /// Has an answer go wrong to a request that the store was told.
    private static func spoil(
        _ answer: RelayedAnswer,
        by fault: StoreFault,
        _ request: ServedRequest,
        over connection: ServedConnection
    ) async throws -> Ending {
        switch fault {
        case .errorAfter:
            try await connection.write(StoreAnswer.internalError.bytes(to: request))
            return .goesOn
        case .slowDownAfter:
            try await connection.write(StoreAnswer.slowDown.bytes(to: request))
            return .goesOn
        case .cutInHead:
            try await connection.write(answer.beginning(inBody: false))
            return .closed
        case .cutInBody:
            try await connection.write(answer.beginning(inBody: true))
            return .closed
        case .stallAfter: return .stalled
        case .stallInAnswer:
            try await connection.write(answer.beginning(inBody: true))
            return .stalled
        default: return .reset
        }
    }
}
