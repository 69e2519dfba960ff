import Hummingbird
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// An HTTP/1.1 connection with limits of our own.
///
/// Hummingbird's has one time limit, and answers what is not HTTP with an empty 400.
package struct HTTPConnection: ServerChildChannel, HTTPChannelHandler {
    /// A connection that nobody handles yet.
    package struct Value: ServerChildChannelValue {
        let accepted: AcceptedConnection

        package var channel: any Channel { accepted.channel }
    }

    package let responder: HTTPChannelHandler.Responder
    private let limits: ConnectionLimits
    private let refuse: @Sendable (RefusedRequest) -> RefusalAnswer
    private let places: ConnectionPlaces
    private let traffic: TrafficMeter
    private let loops: ConnectionLoops

    /// - Parameters:
    ///   - responder: Answers requests.
    ///   - limits: How much and how long a connection may take.
    ///   - places: How many connections there may be.
    ///   - traffic: Counts bytes.
    ///   - refuse: Makes the answers of the connection's own refusals. It is called once for each.
    package init(
        responder: @escaping HTTPChannelHandler.Responder,
        limits: ConnectionLimits,
        places: ConnectionPlaces,
        traffic: TrafficMeter,
        refuse: @escaping @Sendable (RefusedRequest) -> RefusalAnswer
    ) {
        self.responder = responder
        self.limits = limits
        self.places = places
        self.traffic = traffic
        self.refuse = refuse
        loops = ConnectionLoops(limits: limits)
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setOption(.recvAllocator, value: .upTo(limits.maxReadBytes))
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: ConnectionLimits.maxReadsAtOnce)
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: limits.writeBufferWaterMark)
            channel.limitUnsentBytes(to: limits.maxUnsentBytes)
            channel.limitUnconfirmedTime(to: limits.maxUnconfirmedMilliseconds)
            let abandonment = try Self.addHandlers(
                to: channel,
                limits: limits,
                loop: loops.loop(of: channel.eventLoop),
                traffic: traffic,
                refuse: refuse
            )
            let asyncChannel = try NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
            // An error in place of it would end the server.
            let accepted = AcceptedConnection(
                asyncChannel: asyncChannel,
                abandonment: abandonment,
                isAdmitted: places.admit(channel)
            ) { connection in
                await handle(connection, logger: logger)
            }
            return Value(accepted: accepted)
        }
    }

    /// Sets a channel up for requests and answers.
    ///
    /// It is called on the channel's event loop.
    ///
    /// - Parameters:
    ///   - channel: The connection.
    ///   - limits: How much and how long it may take, by the clock of its event loop.
    ///   - loop: What it shares with other connections of its event loop.
    ///   - traffic: Counts bytes.
    ///   - refuse: Makes the answers of the connection's own refusals. It is called once for each.
    /// - Returns: A future that succeeds when the present request may be ended, and fails when the connection ends
    ///   otherwise.
    /// - Throws: The error of a channel that is closed already.
    static func addHandlers(
        to channel: any Channel,
        limits: ConnectionLimits,
        loop: ConnectionLoop,
        traffic: TrafficMeter = TrafficMeter(),
        refuse: @escaping @Sendable (RefusedRequest) -> RefusalAnswer
    ) throws -> EventLoopFuture<Void> {
        var decoderLimits = NIOHTTPDecoderLimitConfiguration()
        decoderLimits.maxHeaderFieldSize = limits.maxHeaderBytes
        decoderLimits.maxHeaderListSize = limits.maxHeaderBytes
        decoderLimits.maxHeaderFieldCount = limits.maxHeaderFields
        let (meter, gate) = (SocketMeter(traffic: traffic), RequestGate())
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([meter, gate])
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withErrorHandling: false,
            withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoderLimits
        )
        let abandonment = channel.eventLoop.makePromise(of: Void.self)
        try pipeline.addHandler(
            ConnectionHandler(
                limits: limits,
                meter: meter,
                gate: gate,
                loop: loop,
                abandonment: abandonment,
                refuse: refuse
            )
        )
        return abandonment.futureResult
    }

    /// Answers the connection's requests on the thread of its socket.
    package func handle(value: Value, logger: Logger) async {
        guard let connection = value.accepted.take() else { return }
        await handle(connection, logger: logger)
    }

    private func handle(_ connection: AcceptedConnection.Contents, logger: Logger) async {
        let asyncChannel = connection.asyncChannel
        // One beyond the limits is closed without a word.
        guard connection.isAdmitted else {
            _ = try? await asyncChannel.executeThenClose { _, _ in }
            return
        }
        let present = CancellableTask()
        connection.abandonment.whenSuccess { present.cancel() }
        // A task of its own would take some kilobytes more of each connection.
        await withTaskExecutorPreference(EventLoopTaskExecutor(asyncChannel.channel.eventLoop)) {
            await present.run { await handleHTTP(asyncChannel: asyncChannel, logger: logger) }
        }
    }
}

extension Channel {
    /// Tells, also after the connection's end, whether a handler took too long.
    ///
    /// Only the connection's event loop knows it; elsewhere it is nil.
    package var handlerTimeOut: HandlerTimeOut? {
        guard eventLoop.inEventLoop else { return nil }
        return (try? pipeline.syncOperations.handler(type: ConnectionHandler.self))?.handlerTimeOut
    }
}

extension Channel {
    /// Has the system take no more of an answer while it has so many unsent bytes.
    ///
    /// A channel that can't be told is none of TCP, or has just been closed.
    fileprivate func limitUnsentBytes(to count: Int) {
        // `TCP_NOTSENT_LOWAT` (Linux, include/uapi/linux/tcp.h, Documentation/networking/ip-sysctl.rst).
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 25))
        try? syncOptions?.setOption(option, value: count)
    }
}

extension Channel {
    /// Has the system drop a client that is gone without a word, or acknowledges nothing.
    fileprivate func limitUnconfirmedTime(to milliseconds: Int) {
        // `TCP_USER_TIMEOUT` (tcp(7); Linux, include/uapi/linux/tcp.h).
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18))
        try? syncOptions?.setOption(option, value: milliseconds)
    }
}

extension RecvByteBufferAllocator where Self == AdaptiveRecvByteBufferAllocator {
    /// Memory for a read that grows with what comes, up to so many bytes.
    static func upTo(_ maxBytes: Int) -> Self {
        AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: maxBytes)
    }
}
