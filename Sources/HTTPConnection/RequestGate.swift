import NIOCore

/// Hands what arrives on to the parser in pieces of one request at most, and no more while too many requests wait.
///
/// The parser hands on every request of a read at once, and back-pressure on the next read comes too late.
final class RequestGate: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether another request may be parsed.
    var mayPass: () -> Bool = { true }
    /// How many bytes of the present request's body are yet to come; 0 when there is none, or when it comes in chunks.
    var bodyBytesToCome: () -> Int = { 0 }
    private var held = ByteBuffer()
    /// Whether more was asked for while something was held.
    private var isReadDue = false
    private var isPassing = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if held.readableBytes > 0 { held.writeBuffer(&bytes) } else { held = bytes }
        pass(context: context)
    }

    func read(context: ChannelHandlerContext) {
        guard held.readableBytes > 0 else { return context.read() }
        isReadDue = true
    }

    /// Goes on with what is held, after a request was answered.
    func resume(context: ChannelHandlerContext) {
        guard held.readableBytes > 0, mayPass() else { return }
        pass(context: context)
        context.fireChannelReadComplete()
        guard held.readableBytes == 0, isReadDue else { return }
        isReadDue = false
        context.read()
    }

    /// Whether something waits to be parsed.
    var isHolding: Bool { held.readableBytes > 0 }

    private func pass(context: ChannelHandlerContext) {
        // What the parser makes of one piece may lead to another read.
        guard !isPassing else { return }
        isPassing = true
        defer { isPassing = false }
        while held.readableBytes > 0, mayPass() {
            // An empty line in a body means nothing.
            let bodyBytes = min(bodyBytesToCome(), held.readableBytes)
            let length = bodyBytes > 0 ? bodyBytes : Self.lengthToEmptyLine(held.readableBytesView)
            guard let piece = held.readSlice(length: length) else { break }
            context.fireChannelRead(wrapInboundOut(piece))
        }
        if held.readableBytes == 0 { held = ByteBuffer() }
    }

    /// How many bytes there are up to the end of the first empty line, which ends a request's header.
    private static func lengthToEmptyLine(_ bytes: ByteBufferView) -> Int {
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let next = end + 1
                if next < bytes.count, bytes[next] == UInt8(ascii: "\n") { return next + 1 }
                if next + 1 < bytes.count, bytes[next] == UInt8(ascii: "\r"), bytes[next + 1] == UInt8(ascii: "\n") {
                    return next + 2
                }
                start = next
            }
            return bytes.count
        }
    }
}
