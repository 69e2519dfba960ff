import Encodings
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Handles one connection: time limits, `Expect: 100-continue`, `Connection: close`, and an answer to what is not HTTP.
///
/// It also converts between NIO's HTTP/1 parts and Hummingbird's parts.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let limits: ConnectionLimits
    private let meter: SocketMeter
    private let gate: RequestGate
    private let loop: ConnectionLoop
    private let refuse: @Sendable (RefusedRequest) -> RefusalAnswer
    /// Succeeds when no client waits for the present answer any more.
    ///
    /// Fails when the connection ends otherwise.
    private let abandonment: EventLoopPromise<Void>
    let handlerTimeOut = HandlerTimeOut()
    private var state: ConnectionStateMachine
    /// Where in the loop's wheel its limits are checked.
    private var wheelSlot: Int?
    private var isInputClosed = false
    /// Whether a head with a Content-Length waits to be sent with the first bytes of its body.
    private var holdsHead = false
    /// Whether an answer has begun, and not ended.
    private var isAnswering = false
    /// Whether the gate waits for its turn.
    private var isResuming = false
    /// Whether reads are as large as a body wants them.
    private var hasLargeReads = false

    init(
        limits: ConnectionLimits,
        meter: SocketMeter,
        gate: RequestGate,
        loop: ConnectionLoop,
        abandonment: EventLoopPromise<Void>,
        refuse: @escaping @Sendable (RefusedRequest) -> RefusalAnswer
    ) {
        self.limits = limits
        self.meter = meter
        self.gate = gate
        self.loop = loop
        self.refuse = refuse
        self.abandonment = abandonment
        state = ConnectionStateMachine(limits: limits, now: abandonment.futureResult.eventLoop.now)
    }

    /// See ``Channel/markRequestUnsafe()``.
    func markRequestUnsafe() {
        state.markRequestUnsafe()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let eventLoop = context.eventLoop
        gate.willPass = { [unowned self] in state.bytesRead(now: eventLoop.now) }
        gate.mayPass = { [unowned self] in state.mayParse }
        gate.discardsInput = { [unowned self] in state.discardsInput }
        gate.arrivingBody = { [unowned self] in state.arrivingBody }
        wheelSlot = loop.wheel.add(self) { [unowned self, unowned context] in tick(context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if let wheelSlot { loop.wheel.remove(self, from: wheelSlot) }
        gate.willPass = {}
        gate.mayPass = { true }
        gate.discardsInput = { false }
        gate.arrivingBody = { nil }
        abandonment.fail(ChannelError.ioOnClosedChannel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if state.isAbandonable { abandonment.succeed() }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.discardsInput else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard state.takesRequest() else { return }
            // Other characters of a URL must be percent-encoded. The router could not handle them as they are.
            // No header needs many combining marks, which would be slow to compare.
            guard head.uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                !head.headers.contains(where: { $0.value.hasLongMarkRun })
            else {
                return reject(context: context, with: .malformedRequest)
            }
            do {
                var request = try HTTPRequest(received: head)
                let requestID = RequestIdentifier.name(&request.headerFields)
                state.requestHead(
                    ConnectionStateMachine.Exchange(requestID: requestID, method: head.method),
                    isKeepAlive: head.isKeepAlive && !head.changesProtocol,
                    expectsContinue: head.expectsContinue,
                    bodyLength: head.bodyLength,
                    now: context.eventLoop.now
                )
                readsLargeBody(of: head, context: context)
                context.fireChannelRead(wrapInboundOut(.head(request)))
            } catch {
                context.fireErrorCaught(error)
            }
        case .body(let buffer):
            state.requestBody(bytes: buffer.readableBytes, now: context.eventLoop.now)
            context.fireChannelRead(wrapInboundOut(.body(buffer)))
        case .end(let trailers):
            state.requestEnd(now: context.eventLoop.now)
            readsLittle(context: context)
            context.fireChannelRead(wrapInboundOut(.end(trailers.map { HTTPFields($0, splitCookie: false) })))
        }
    }

    /// Reads more at a time while a large body comes.
    private func readsLargeBody(of head: HTTPRequestHead, context: ChannelHandlerContext) {
        guard head.bodyLength ?? 0 > limits.maxReadBytes || head.headers.contains(name: "transfer-encoding") else {
            return
        }
        hasLargeReads = true
        setMaxReadBytes(limits.maxBodyReadBytes, context: context)
    }

    /// Reads little at a time again, once the body has come or is not wanted.
    private func readsLittle(context: ChannelHandlerContext) {
        guard hasLargeReads else { return }
        hasLargeReads = false
        setMaxReadBytes(limits.maxReadBytes, context: context)
    }

    private func setMaxReadBytes(_ bytes: Int, context: ChannelHandlerContext) {
        // A channel that refuses has just been closed.
        try? context.channel.syncOptions?.setOption(.recvAllocator, value: .upTo(bytes))
    }

    /// Lets the next request be parsed, when it is this connection's turn.
    private func resumeGate(context: ChannelHandlerContext) {
        guard !isResuming, gate.mayResume,
            let gateContext = try? context.pipeline.syncOperations.context(handler: gate)
        else { return }
        isResuming = true
        loop.line.wait { [self] in
            isResuming = false
            guard context.channel.isActive else { return }
            gate.resume(context: gateContext)
            resumeGate(context: context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard state.isLingering else { return context.fireChannelReadComplete() }
        // No handler downstream asks for more bytes now.
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.hasTimedOut else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let response):
            var head = HTTPResponseHead(response)
            if head.status.code >= 200, state.responseHead() {
                head.headers.replaceOrAdd(name: "connection", value: "close")
            }
            isAnswering = head.status.code >= 200
            holdsHead = isAnswering && head.headers.contains(name: "content-length")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let buffer):
            holdsHead = false
            context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: promise)
        case .end(let trailers):
            (holdsHead, isAnswering) = (false, false)
            context.write(wrapOutboundOut(.end(trailers.map { HTTPHeaders($0) })), promise: promise)
            if state.responseEnd(now: context.eventLoop.now) == .linger { linger(context: context) }
            resumeGate(context: context)
        }
    }

    func flush(context: ChannelHandlerContext) {
        if !holdsHead { context.flush() }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard !state.hasTimedOut else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch event {
        case is ContinueEvent:
            if state.takesContinue() {
                let head = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
            }
            promise?.succeed()
        case is SentEvent:
            guard isAnswering, !holdsHead else { return promise?.succeed() ?? () }
            // What is written after everything else is taken after it.
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: promise)
        case let event as SendFileEvent:
            holdsHead = false
            let sent = promise ?? context.eventLoop.makePromise()
            let region = event.region(until: sent.futureResult)
            context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(region))), promise: sent)
        default: context.triggerUserOutboundEvent(event, promise: promise)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After an error, the parser fails again for all that follows.
        if error is ByteToMessageDecoderError, state.discardsInput { return }
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        reject(
            context: context,
            with: error == .headerOverflow ? .headerTooLarge : .malformedRequest,
            readerGets: error
        )
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            if state.quiesce(now: context.eventLoop.now) { context.close(promise: nil) }
        case ChannelEvent.inputClosed where state.isLingering: context.close(promise: nil)
        case ChannelEvent.inputClosed:
            isInputClosed = true
            state.inputClosed(now: context.eventLoop.now)
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func tick(context: ChannelHandlerContext) {
        // A channel without an answer has just been closed.
        let unsent = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)
        state.socketTook(bytes: meter.bytesWritten - (unsent ?? 0), isAll: unsent ?? 0 == 0, now: context.eventLoop.now)
        switch state.tick(now: context.eventLoop.now, isReadPending: meter.isReadPending) {
        case .none: break
        case .close: context.close(promise: nil)
        case .refuse: refuse(context: context, with: .requestTooSlow)
        case .failBody: context.fireErrorCaught(SlowRequestError())
        case .abandon: abandonment.succeed()
        case .timeOut: timeOut(context: context)
        }
    }

    /// Handles input that is not HTTP, depending on the state of the connection.
    private func reject(
        context: ChannelHandlerContext,
        with refusal: ConnectionRefusal,
        readerGets error: HTTPParserError? = nil
    ) {
        switch (state.parserError(), error) {
        case (.refuse, _) where !isInputClosed: refuse(context: context, with: refusal)
        case (.failBody, let error?): context.fireErrorCaught(error)
        case (.drop, _): break
        default: context.close(promise: nil)
        }
    }

    /// Answers a request that never reached the router.
    private func refuse(context: ChannelHandlerContext, with refusal: ConnectionRefusal) {
        let request = RefusedRequest(
            refusal: refusal,
            requestID: RequestIdentifier.make(),
            method: nil,
            duration: state.headSince.map { context.eventLoop.now - $0 } ?? .zero,
            peer: context.channel.remoteAddress
        )
        answer(request, context: context)
    }

    /// Answers a request whose handler takes too long.
    ///
    /// The handler still runs. It writes its line to the log when it ends, or when the connection ends.
    private func timeOut(context: ChannelHandlerContext) {
        guard let exchange = state.exchanges.first else { return context.close(promise: nil) }
        handlerTimeOut.pass()
        let request = RefusedRequest(
            refusal: .handlerTooSlow,
            requestID: exchange.requestID,
            method: HTTPRequest.Method(exchange.method.rawValue),
            duration: limits.answerTimeout,
            peer: context.channel.remoteAddress
        )
        answer(request, context: context)
    }

    private func answer(_ request: RefusedRequest, context: ChannelHandlerContext) {
        let answer = refuse(request)
        context.write(wrapOutboundOut(.head(answer.head(requestID: request.requestID))), promise: nil)
        if request.method != .head { context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil) }
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        state.refused(now: context.eventLoop.now)
        linger(context: context)
    }

    private func linger(context: ChannelHandlerContext) {
        context.flush()
        readsLittle(context: context)
        guard !isInputClosed else { return context.close(promise: nil) }
        let eventLoop = context.eventLoop
        context.close(mode: .output).assumeIsolated().whenSuccess { [self] in
            state.outputClosed(now: eventLoop.now)
        }
        context.read()
    }
}
