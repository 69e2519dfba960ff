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
    /// What the next bytes belong to.
    var arrivingBody: () -> ArrivingBody? = { nil }
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
            guard let piece = held.readSlice(length: pieceLength) else { break }
            context.fireChannelRead(wrapInboundOut(piece))
        }
        if held.readableBytes == 0 { held = ByteBuffer() }
    }

    /// How many bytes to hand on at once.
    private var pieceLength: Int {
        switch arrivingBody() {
        case nil: Self.lengthToEmptyLine(held.readableBytesView, from: 0)
        case .bytes(let count): min(count, held.readableBytes)
        case .chunks:
            Self.lengthToEmptyLine(held.readableBytesView, from: min(Self.minChunkedBytes, held.readableBytes))
        }
    }

    /// The least that is handed on of a body in chunks, as far as it is there.
    ///
    /// Its end shows only to the parser. Bodies of empty lines would cost a pass through it for each.
    private static let minChunkedBytes = 512

    /// How many bytes there are up to the end of the first empty line, which ends a request's header.
    private static func lengthToEmptyLine(_ bytes: ByteBufferView, from start: Int) -> Int {
        bytes.withUnsafeBytes { bytes in
            var start = start
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
