import Foundation
import SelfieClient

/// All that the service has: a plain value that calls change.
struct ServiceState: Sendable {
    let settings: InMemoryService.Settings
    let schema: RecordSchema
    /// Where URLs of photos begin, such as `https://selfie.example`.
    let origin: String
    /// The value of `Authorization` that proves the app.
    let credential: String
    let cipher: PasswordCipher

    var accounts = Accounts()
    var codes = Codes()
    var sessions = Sessions()
    var photos = PhotoLibrary()
    var photoURLs = PhotoURLs()
    var records = RecordStore()
    var grants = Grants()
    var devices = Devices()
    var subscriptions = Subscriptions()
    /// How often all cursors have ended.
    var cursorEpoch = 0
    /// The time of the present request, in whole milliseconds.
    ///
    /// No two requests have the same.
    private(set) var now = Date(timeIntervalSince1970: 0)

    /// Goes on to the next moment.
    mutating func tick() {
        let milliseconds = (Date().timeIntervalSince1970 * 1000).rounded(.down)
        let last = (now.timeIntervalSince1970 * 1000).rounded()
        now = Date(timeIntervalSince1970: max(milliseconds, last + 1) / 1000)
    }

    /// Ends sessions, and what belongs to them.
    mutating func endSessions(where isEnding: (Session) -> Bool) {
        devices.remove(ofSessions: sessions.end(where: isEnding))
    }
}
