import NIOCore
import NIOHTTPTypes
import Synchronization

/// A connection from its acceptance until somebody handles it.
///
/// When the server stops, the last connections that it has accepted are dropped by the loop that should handle them. Such a
/// connection handles itself, since its request may be on its way. A `NIOAsyncChannel` that nobody uses would even stop the
/// whole process.
final class AcceptedConnection: Sendable {
    /// What is needed to handle it.
    struct Contents: Sendable {
        let asyncChannel: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
        /// Succeeds when the present request may be ended.
        let abandonment: EventLoopFuture<Void>
        /// False for a connection beyond the limits.
        let isAdmitted: Bool
    }

    private let contents: Contents
    private let handle: @Sendable (Contents) async -> Void
    private let isTaken = Atomic(false)

    init(
        asyncChannel: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>,
        abandonment: EventLoopFuture<Void>,
        isAdmitted: Bool,
        handle: @escaping @Sendable (Contents) async -> Void
    ) {
        contents = Contents(asyncChannel: asyncChannel, abandonment: abandonment, isAdmitted: isAdmitted)
        self.handle = handle
    }

    var channel: any Channel { contents.asyncChannel.channel }

    /// Takes it over; nil when somebody else has.
    func take() -> Contents? {
        isTaken.exchange(true, ordering: .relaxed) ? nil : contents
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        Task { [contents, handle] in await handle(contents) }
    }
}
