import Foundation
import SelfieClient

/// All subscriptions, as they are answered.
struct Subscriptions: Sendable {
    private var byUser: [String: [String: JSONValue]] = [:]

    subscript(userID: String, id: String) -> JSONValue? {
        get { byUser[userID]?[id] }
        set { byUser[userID, default: [:]][id] = newValue }
    }

    func list(of userID: String) -> [JSONValue] {
        (byUser[userID] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    func count(of userID: String) -> Int { byUser[userID]?.count ?? 0 }

    mutating func remove(of userID: String) { byUser[userID] = nil }
}
