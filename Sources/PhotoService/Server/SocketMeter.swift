import NIOCore

/// Sits next to the socket and tells the connection's handler what only shows there: first bytes and pending reads.
final class SocketMeter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// Whether more was asked of the socket than it has given yet.
    private(set) var isReadPending = false
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
}
