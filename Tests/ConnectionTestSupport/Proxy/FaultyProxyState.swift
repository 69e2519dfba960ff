import Foundation
import Synchronization
import TestSupport

/// The faults that a ``FaultyProxy`` is to make, and those that it made.
final class FaultyProxyState: Sendable {
    fileprivate struct State {
        var generator: SplitMix64
        var decks: [String: FaultDeck] = [:]
        var hasFaults = false
        var armed: (kind: String, fault: StoreFault)?
        var region: String?
        var sessionToken: String?
        var demandsTime = false
        var records: [FaultyProxy.Record] = []
        var faultsUnderWay = 0
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(generator: SplitMix64(seed: seed)))
    }

    var records: [FaultyProxy.Record] { state.withLock { $0.records } }
    var faultsUnderWay: Int { state.withLock { $0.faultsUnderWay } }

    func set(hasFaults: Bool) { state.withLock { $0.hasFaults = hasFaults } }
    func set(region: String) { state.withLock { $0.region = region } }
    func set(sessionToken: String) { state.withLock { $0.sessionToken = sessionToken } }
    func arm(_ fault: StoreFault, for kind: String) { state.withLock { $0.armed = (kind, fault) } }
    func demandTime() { state.withLock { $0.demandsTime = true } }

    /// Decides on a request, and notes it.
    ///
    /// - Returns: A refusal, or else what is to go wrong.
    func decide(_ request: ServedRequest) -> (refusal: StoreAnswer?, fault: StoreFault?) {
        // A client with a presigned URL talks to the store itself, so the proxy's faults do not concern it.
        guard let signed = request.headers["authorization"] else { return (nil, nil) }
        return state.withLock { state in
            if let refusal = state.refusal(of: request, signed: signed) {
                state.records.append(.init(method: request.method, target: request.target, outcome: refusal.code))
                return (refusal, nil)
            }
            let fault = state.fault(of: request)
            state.records.append(.init(method: request.method, target: request.target, outcome: fault?.rawValue))
            if fault != nil { state.faultsUnderWay += 1 }
            return (nil, fault)
        }
    }

    func finishFault() { state.withLock { $0.faultsUnderWay -= 1 } }
}

extension ServedRequest {
    /// Requests of the same kind suffer from one deck.
    fileprivate var kind: String {
        let query = target.drop { $0 != "?" }
        // Such as `PUT ?partNumber`.
        return "\(method) \(query.prefix { $0 != "=" }) \(length > 0)"
    }
}

extension FaultyProxyState.State {
    /// What is to go wrong with a request.
    mutating func fault(of request: ServedRequest) -> StoreFault? {
        let record = FaultyProxy.Record(method: request.method, target: request.target, outcome: nil)
        if let armed, armed.kind == record.kind {
            self.armed = nil
            return armed.fault
        }
        guard hasFaults else { return nil }
        return decks[request.kind, default: FaultDeck(request)].draw(using: &generator)
    }

    /// What a store answers that wants something else signed.
    func refusal(of request: ServedRequest, signed: String) -> StoreAnswer? {
        if demandsTime, let date = request.headers["x-amz-date"].flatMap(Self.date),
            abs(date.timeIntervalSinceNow) > 15 * 60
        {
            return .requestTimeTooSkewed
        }
        // Credential=<key>/<day>/<region>/s3/aws4_request
        let scope = signed.split(separator: "/")
        if let region, scope.count > 2, scope[2] != region { return .authorizationHeaderMalformed(region: region) }
        if let sessionToken, request.headers["x-amz-security-token"] != sessionToken { return .expiredToken }
        return nil
    }

    private static func date(_ text: String) -> Date? {
        try? Date(
            text,
            strategy: .iso8601.year().month().day().time(includingFractionalSeconds: false)
                .dateSeparator(.omitted).timeSeparator(.omitted).timeZone(separator: .omitted)
        )
    }
}
