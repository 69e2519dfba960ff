public import Foundation

/// The credential of the app: `API_AUTH_NAME` and `API_AUTH_PASSWORD` of the service.
///
/// Anybody can read it in the app's binary. It protects no user.
public struct APICredential: Sendable, Hashable {
    let name: String
    let password: Token

    public init(name: String, password: String) {
        self.name = name
        self.password = Token(password)
    }

    /// The value of `Authorization`.
    var header: String {
        "Basic " + Data("\(name):\(password.text)".utf8).base64EncodedString()
    }
}

/// What an app may set about its client.
public struct SelfieConfiguration: Sendable {
    /// Where the session is kept.
    ///
    /// The default is the Keychain, and on Linux a file with mode 600.
    public var tokenStore: any TokenStore
    /// The folder for what waits to be sent, for copies of records and for pictures.
    ///
    /// Each user has a folder in it.
    ///
    /// - Important: It must be in the app's own container, and never in the container of an app group. The client holds a
    ///   lock in it, and iOS ends a suspended app that holds a lock in a shared container (`0xdead10cc`). An extension has
    ///   a folder of its own. It shares the session alone, by the `accessGroup` of `KeychainTokenStore`.
    public var folder: URL
    /// How long the service may be silent before a call fails.
    public var timeout: Duration = .seconds(30)
    /// How often a call is tried in all, if it can be repeated.
    public var maxTries = 3
    /// How long a call waits for the service when that says when to try again.
    ///
    /// If it says longer, the call fails at once.
    public var patience: Duration = .seconds(10)
    /// The most bytes of pictures that are kept on disk for a user.
    public var maxPictureBytes = 256 << 20
    /// The most bytes that may wait in the outbox of a user, and that a photo may have which is uploaded now.
    public var maxOutboxBytes = 2 << 30
    /// The most items that may wait in the outbox of a user.
    public var maxOutboxItems = 10_000
    /// The name of new sessions, such as the device's name.
    ///
    /// The service knows the system's user agent otherwise.
    public var deviceName: String?
    /// Gets what the client does, one entry a call.
    ///
    /// No entry has a token, a code, a password or a signature.
    public var log: (@Sendable (LogEntry) -> Void)?
    /// What carries requests.
    ///
    /// An app extension takes a plain ``URLSessionTransport``: its uploads can't go on while it does not run.
    public var transport: any Transport

    /// Called before each step of the outbox that a crash may fall on, with its name.
    @_spi(Testing) public var beforeStep: @Sendable (_ name: String) throws -> Void = { _ in }
    var outboxTiming = OutboxQueue.Timing()
    /// The device's clock.
    var now: @Sendable () -> Date = { Date() }

    /// - Parameters:
    ///   - tokenStore: Where the session is kept.
    ///   - folder: Where the rest is kept: in the app's own container, see ``folder``.
    ///   - transport: What carries requests.
    public init(
        tokenStore: any TokenStore,
        folder: URL,
        transport: any Transport = URLSessionTransport()
    ) {
        (self.tokenStore, self.folder, self.transport) = (tokenStore, folder, transport)
    }

    /// The usual places for a service: the Keychain (on Linux a file), and a folder of the app's own.
    ///
    /// - Parameter url: The service.
    /// - Returns: The configuration, to be changed further.
    public static func standard(for url: URL) -> SelfieConfiguration {
        let name = (url.host ?? "selfie") + (url.port.map { "-\($0)" } ?? "")
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
        let folder = base.appendingPathComponent("Selfie").appendingPathComponent(name)
        #if canImport(Security)
            return SelfieConfiguration(tokenStore: KeychainTokenStore(service: "Selfie \(name)"), folder: folder)
        #else
            let file = folder.appendingPathComponent("session")
            return SelfieConfiguration(tokenStore: FileTokenStore(file: file), folder: folder)
        #endif
    }
}

/// What the client did.
public struct LogEntry: Sendable {
    /// How much it matters.
    public enum Level: String, Sendable {
        /// What happens all the time.
        case debug
        /// What an app's developer should look at.
        case warning
    }

    public let level: Level
    /// A sentence in English.
    public let message: String
    /// Facts by name, such as `method`, `path`, `status` and `request_id`.
    public let metadata: [String: String]
}
