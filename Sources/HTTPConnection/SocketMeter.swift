import NIOCore

/// Measures next to the socket what the connection's handler can't see: pending reads, and the number of written bytes.
final class SocketMeter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether a read of the socket was requested, and has not ended.
    private(set) var isReadPending = false
    /// How many bytes were handed to the channel so far.
    private(set) var bytesWritten = 0
    /// The counters of all connections.
    private let traffic: TrafficMeter

    init(traffic: TrafficMeter) {
        self.traffic = traffic
    }

    func read(context: ChannelHandlerContext) {
        isReadPending = true
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReadPending = false
        traffic.receive(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let count = unwrapOutboundIn(data).readableBytes
        bytesWritten += count
        traffic.send(count)
        context.write(data, promise: promise)
    }
}
