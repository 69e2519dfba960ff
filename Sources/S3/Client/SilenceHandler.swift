import NIOCore
import NIOHTTP1

/// Closes a connection when more of an answer's body is wanted and none comes.
///
/// Time counts only while a read is under way, so a slow reader of ours is no silence. `Attempt.run` watches a
/// whole attempt, and the time before the answer's head. This watches the body, without a task for each piece.
final class SilenceHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Never

    private let silence: TimeAmount
    private var isInBody = false
    private var waitingSince: NIODeadline?
    private var ticker: RepeatedTask?

    /// How many times it looks within the time of silence.
    private static let ticksPerSilence: Int64 = 8

    init(silence: TimeAmount) {
        self.silence = silence
    }

    /// Adds a handler to a connection, next to the decoder of its answers.
    ///
    /// - Throws: `ChannelPipelineError.notFound` when the connection has no such decoder.
    static func add(to channel: any Channel, silence: TimeAmount) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(SilenceHandler(silence: silence), position: .after(decoder))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let tick = TimeAmount.nanoseconds(silence.nanoseconds / Self.ticksPerSilence)
        ticker = context.eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in
            let (handler, context) = bound.value
            handler.tick(context: context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        ticker.take()?.cancel()
    }

    func read(context: ChannelHandlerContext) {
        if isInBody, waitingSince == nil { waitingSince = context.eventLoop.now }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head, .body: isInBody = true
        case .end: isInBody = false
        }
        waitingSince = nil
        context.fireChannelRead(data)
    }

    private func tick(context: ChannelHandlerContext) {
        guard let waitingSince, context.eventLoop.now - waitingSince > silence else { return }
        self.waitingSince = nil
        context.fireErrorCaught(S3NoAnswer.silent)
        context.close(promise: nil)
    }
}
