import NIOCore

/// Closes a connection when bytes are wanted and none come.
///
/// Time counts only while a read is under way, so a slow reader of ours is no silence. Bytes that are written and taken
/// are a sign of life, too. `Watchdog` does the same for a whole call. This watches the answer's body, without a task
/// for each piece.
final class SilenceHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let silence: TimeAmount
    private var waitingSince: NIODeadline?
    private var ticker: RepeatedTask?

    /// How many times it looks within the time of silence.
    private static let ticksPerSilence: Int64 = 8

    init(silence: TimeAmount) {
        self.silence = silence
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
        if waitingSince == nil { waitingSince = context.eventLoop.now }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waitingSince = nil
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // A read is under way since the end of the last answer. The wait for the next one begins here.
        if waitingSince != nil { waitingSince = context.eventLoop.now }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if waitingSince != nil { waitingSince = context.eventLoop.now }
        context.fireChannelWritabilityChanged()
    }

    private func tick(context: ChannelHandlerContext) {
        guard let waitingSince, context.eventLoop.now - waitingSince > silence else { return }
        self.waitingSince = nil
        context.fireErrorCaught(S3NoAnswer.silent)
        context.close(promise: nil)
    }
}
