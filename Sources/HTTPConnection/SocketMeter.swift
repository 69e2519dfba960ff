import NIOCore

/// Sits next to the socket and tells the connection's handler what only shows there: first bytes, pending reads, and how
/// much was written.
final class SocketMeter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether more was asked of the socket than it has given yet.
    private(set) var isReadPending = false
    /// How many bytes were handed to the channel, to be sent when the socket takes them.
    private(set) var bytesWritten = 0
    var onRead: (() -> Void)?

    func read(context: ChannelHandlerContext) {
        isReadPending = true
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReadPending = false
        onRead?()
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        bytesWritten += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }
}
