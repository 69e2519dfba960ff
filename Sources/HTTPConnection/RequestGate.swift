import NIOCore

/// Passes bytes to the parser in pieces of one request at most, and none while too many requests wait.
///
/// The parser passes on every request of a read at once, and back-pressure on the next read comes too late.
final class RequestGate: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether another request may be parsed.
    var mayPass: () -> Bool = { true }
    /// Whether all further bytes are dropped.
    var discardsInput: () -> Bool = { false }
    /// The part of a request that the next bytes belong to.
    var arrivingBody: () -> ArrivingBody? = { nil }
    /// Called before bytes are parsed.
    var willPass: () -> Void = {}
    private var held = ByteBuffer()
    /// Whether a read was requested while bytes were held.
    private var isReadDue = false
    /// Whether the client has closed its side behind what is held.
    private var isEndDue = false
    private var isPassing = false

    /// The most bytes that are held: when a client closes its side, all that it has sent arrives at once.
    private static let maxHeldBytes = 128 * 1024

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if held.readableBytes > 0 { held.writeBuffer(&bytes) } else { held = bytes }
        pass(context: context)
        if held.readableBytes > Self.maxHeldBytes { context.close(promise: nil) }
    }

    func read(context: ChannelHandlerContext) {
        if discardsInput() {
            held = ByteBuffer()
            passEnd(context: context)
        }
        guard held.readableBytes > 0 else { return context.read() }
        isReadDue = true
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The parser takes nothing more after it.
        if case ChannelEvent.inputClosed = event, held.readableBytes > 0 {
            isEndDue = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Passes one of the requests that are held.
    ///
    /// With more at once, clients that send without end would keep the event loop from others.
    func resume(context: ChannelHandlerContext) {
        guard mayResume else { return }
        pass(context: context, maxRequests: 1)
        context.fireChannelReadComplete()
        guard held.readableBytes == 0 else { return }
        passEnd(context: context)
        if isReadDue {
            isReadDue = false
            context.read()
        }
    }

    /// Passes the event that the client has closed its side, if nothing is held before that.
    private func passEnd(context: ChannelHandlerContext) {
        guard isEndDue, held.readableBytes == 0 else { return }
        isEndDue = false
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    /// Whether something is held that may be parsed, or discarded, now.
    var mayResume: Bool { held.readableBytes > 0 && (mayPass() || discardsInput()) }

    private func pass(context: ChannelHandlerContext, maxRequests: Int = .max) {
        // What the parser makes of one piece may lead to another read.
        guard !isPassing else { return }
        isPassing = true
        defer { isPassing = false }
        var requestCount = 0
        while held.readableBytes > 0, !discardsInput(), mayPass() {
            if arrivingBody() == nil {
                guard requestCount < maxRequests else { break }
                requestCount += 1
            }
            guard let piece = held.readSlice(length: pieceLength) else { break }
            willPass()
            context.fireChannelRead(wrapInboundOut(piece))
        }
        if held.readableBytes == 0 || discardsInput() { held = ByteBuffer() }
    }

    /// How many bytes to pass on at once.
    private var pieceLength: Int {
        switch arrivingBody() {
        case nil: Self.lengthToEmptyLine(held.readableBytesView, from: 0)
        case .bytes(let count): min(count, held.readableBytes)
        case .chunks:
            Self.lengthToEmptyLine(held.readableBytesView, from: min(Self.minChunkedBytes, held.readableBytes))
        }
    }

    /// The least that is passed on of a body in chunks, if as much has arrived.
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
