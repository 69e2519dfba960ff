import Synchronization

@testable import SelfieRecords

/// The state of a client from the changes that it received.
package final class ChangeReplica: Sendable {
    fileprivate struct State {
        /// Versions by collection and id, such as `news/n1`; 0 for photos.
        var records: [String: Int] = [:]
        /// The same for changes received in this connection.
        var versions: [String: Int] = [:]
        /// Where the last change of this connection has led.
        var cursor: ChangeCursor?
        var lastID: String?
        var isSynced = false
        var changeCount = 0
        var resets: [String] = []
        var repeated: [String] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var records: [String: Int] { state.withLock { $0.records } }
    /// The cursor to resume from.
    package var lastID: String? { state.withLock { $0.lastID } }
    /// Whether it has received the state from when it connected.
    package var isSynced: Bool { state.withLock { $0.isSynced } }
    package var changeCount: Int { state.withLock { $0.changeCount } }
    /// The reasons for which it had to begin again.
    package var resets: [String] { state.withLock { $0.resets } }
    /// What came twice in a connection.
    package var repeated: [String] { state.withLock { $0.repeated } }

    /// Notes that a connection begins.
    package func connected() {
        state.withLock { ($0.versions, $0.cursor, $0.isSynced) = ([:], nil, false) }
    }

    /// Takes an event.
    ///
    /// - Returns: Whether the client must begin again.
    package func take(_ event: ServerEvent) -> Bool {
        state.withLock { state in
            if let id = event.id { state.lastID = id }
            switch event.name {
            case "change": state.take(event)
            case "synced": state.isSynced = true
            case "reset": state.reset(event.json["reason"] as? String ?? "")
            default: break
            }
            return event.name == "reset"
        }
    }

}

extension ChangeReplica.State {
    fileprivate mutating func reset(_ reason: String) {
        (records, lastID) = ([:], nil)
        resets.append(reason)
    }

    fileprivate mutating func take(_ event: ServerEvent) {
        let json = event.json
        let key = "\(json["collection"] as? String ?? "")/\(json["id"] as? String ?? "")"
        let version: Int? =
            if json["type"] as? String == "deleted" {
                nil
            } else {
                (json["record"] as? [String: Any])?["version"] as? Int ?? 0
            }
        let next = event.id.flatMap(ChangeCursor.init)
        // A deleted record may have existed again meanwhile, so only numbers are reliable.
        if let version, versions[key] == version { repeated.append(event.summary) }
        if next?.isBeyond(cursor) != true { repeated.append("\(event.summary) at \(event.id ?? "")") }
        (versions[key], cursor) = (version, next)
        records[key] = version
        changeCount += 1
    }
}

extension ChangeCursor {
    /// Whether a change has moved it, and in no stream back.
    fileprivate func isBeyond(_ other: ChangeCursor?) -> Bool {
        guard let other else { return true }
        let isAhead = other.positions.allSatisfy { number(in: $0.key) >= $0.value.number }
        return isAhead && positions.mapValues(\.number) != other.positions.mapValues(\.number)
    }
}
