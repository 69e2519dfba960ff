import NIOCore

/// Sits next to the socket and tells the connection's handler what only shows there: first bytes, pending reads, and
/// the number of written bytes.
final class SocketMeter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether the socket was asked for bytes that it has not given yet.
    private(set) var isReadPending = false
    /// How many bytes were handed to the channel so far.
    private(set) var bytesWritten = 0

    func read(context: ChannelHandlerContext) {
        isReadPending = true
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReadPending = false
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        bytesWritten += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }
}
