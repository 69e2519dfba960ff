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
    package struct Value: ServerChildChannelValue {
        package let channel: any Channel
    }

    package let responder: HTTPChannelHandler.Responder
    private let limits: ConnectionLimits
    private let refuse: @Sendable (RefusedRequest) -> RefusalAnswer
    private let permits: ConnectionPermits
    private let tasks: ConnectionTasks
    private let traffic: TrafficMeter
    private let loops: ConnectionLoops

    /// - Parameters:
    ///   - responder: Answers requests.
    ///   - limits: How much and how long a connection may take.
    ///   - permits: How many connections there may be.
    ///   - tasks: Handle them. Wait for them when the server has stopped.
    ///   - traffic: Counts bytes.
    ///   - refuse: Makes the answers of the connection's own refusals. It is called once for each.
    package init(
        responder: @escaping HTTPChannelHandler.Responder,
        limits: ConnectionLimits,
        permits: ConnectionPermits,
        tasks: ConnectionTasks,
        traffic: TrafficMeter,
        refuse: @escaping @Sendable (RefusedRequest) -> RefusalAnswer
    ) {
        self.responder = responder
        self.limits = limits
        self.permits = permits
        self.tasks = tasks
        self.traffic = traffic
        self.refuse = refuse
        loops = ConnectionLoops(limits: limits)
    }

    /// Sets a new connection up, and starts to handle it.
    ///
    /// It does not wait for Hummingbird's loop of connections, which drops those that were accepted at the moment of its end.
    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setOption(.recvAllocator, value: .upTo(limits.maxReadBytes))
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: ConnectionLimits.maxReadsAtOnce)
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: limits.writeBufferWaterMark)
            channel.limitUnsentBytes(to: limits.maxUnsentBytes)
            channel.limitUnconfirmedTime(to: limits.maxUnconfirmedMilliseconds)
            let loop = loops.loop(of: channel.eventLoop)
            let abandonment = try Self.addHandlers(
                to: channel,
                limits: limits,
                loop: loop,
                traffic: traffic,
                refuse: refuse
            )
            let asyncChannel = try NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
            let isAdmitted = permits.admit(channel)
            let task = tasks.start(on: loop.executor) {
                if isAdmitted {
                    await handleHTTP(asyncChannel: asyncChannel, logger: logger)
                } else {
                    // Closed without an answer. An error instead of the connection would end the server.
                    _ = try? await asyncChannel.executeThenClose { _, _ in }
                }
            }
            abandonment.whenSuccess { task.cancel() }
            return Value(channel: channel)
        }
    }

    /// Does nothing: the connection's own task handles it.
    package func handle(value: Value, logger: Logger) async {}

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
}

extension Channel {
    /// Makes the system accept no more of an answer while it has so many unsent bytes.
    ///
    /// A channel without the option is not TCP, or was just closed.
    fileprivate func limitUnsentBytes(to count: Int) {
        // `TCP_NOTSENT_LOWAT` (Linux, include/uapi/linux/tcp.h, Documentation/networking/ip-sysctl.rst).
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 25))
        try? syncOptions?.setOption(option, value: count)
    }
}

extension Channel {
    /// Has the system drop a client that acknowledges nothing.
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
