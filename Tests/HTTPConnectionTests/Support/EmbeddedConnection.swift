import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import TestSupport

@testable import HTTPConnection
@testable import LinuxFiles
@testable import SelfieWeb

/// A connection without a socket, whose client, server and clock are the test's.
final class EmbeddedConnection {
    private let channel = EmbeddedChannel()
    private let socket = EmbeddedSocket()
    private let abandonment: EventLoopFuture<Void>
    let log = TestLog()
    /// Whether the server asks for more as soon as it has read something.
    var isServerReading = true
    /// The error that the body's reader got.
    private(set) var failure: (any Error)?

    init(limits: ConnectionLimits = ConnectionLimits()) throws {
        channel.allowRemoteHalfClosure = true
        try channel.pipeline.syncOperations.addHandler(socket)
        abandonment = try HTTPConnection.addHandlers(
            to: channel,
            limits: limits,
            loop: ConnectionLoop(channel.eventLoop, limits: limits),
            refuse: ConnectionRefusals(
                metrics: RequestMetrics(factory: nil),
                logger: log.logger(level: .info)
            ).answer
        )
        // Nothing is connected: it makes the channel an active one.
        channel.connect(to: try SocketAddress(unixDomainSocketPath: "none"), promise: nil)
        channel.read()
    }

    deinit {
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    // MARK: The clock

    /// Lets the connection have its turns with requests in line.
    func waitForTurns() {
        channel.embeddedEventLoop.advanceTime(by: ResumptionLine.pause * 10)
        noteFailure()
    }

    /// Lets time pass.
    func wait(_ seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        noteFailure()
    }

    // MARK: The client

    var isOpen: Bool { channel.isActive }

    /// Whether the server has said that nothing more will come.
    var isOutputClosed: Bool { socket.isOutputClosed || !isOpen }

    /// Sends text as one packet.
    func receive(_ text: String) {
        receive(ByteBuffer(string: text))
    }

    /// Sends bytes as one packet.
    func receive(_ bytes: ByteBuffer) {
        guard isOpen else { return }
        channel.pipeline.fireChannelRead(bytes)
        channel.pipeline.fireChannelReadComplete()
        if isServerReading { channel.read() }
        noteFailure()
    }

    /// Closes the sending side only.
    func finish() {
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        noteFailure()
    }

    /// Closes the connection.
    func leave() {
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
        noteFailure()
    }

    /// Stops to take what is written.
    func stopTaking() { socket.isStuck = true }

    /// Takes all that was written so far, and stops again.
    func takeAll() { socket.takeAll() }

    /// All that came since the last look.
    func taken() throws -> String {
        var text = ""
        while let data = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: data) }
        return text
    }

    // MARK: The server

    /// What the router would get, since the last look.
    func parts() throws -> [HTTPRequestPart] {
        var parts: [HTTPRequestPart] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) { parts.append(part) }
        return parts
    }

    /// Answers with a body of its own.
    func answer(_ status: HTTPResponse.Status = .ok, body: String = "") {
        beginAnswer(status, length: body.utf8.count)
        if !body.isEmpty { write(body) }
        endAnswer()
    }

    /// Writes the head of an answer.
    ///
    /// - Parameters:
    ///   - status: Its status.
    ///   - length: Its body's length; nil for one that is not known.
    func beginAnswer(_ status: HTTPResponse.Status = .ok, length: Int?) {
        let head = HTTPResponse(status: status, headerFields: length.map { [.contentLength: String($0)] } ?? [:])
        channel.writeAndFlush(HTTPResponsePart.head(head), promise: nil)
    }

    /// Writes some of an answer's body.
    func write(_ text: String) {
        channel.writeAndFlush(HTTPResponsePart.body(ByteBuffer(string: text)), promise: nil)
    }

    /// Writes the end of an answer.
    func endAnswer() {
        channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
    }

    /// Sends nothing of a file that has nothing.
    func sendFile() throws {
        guard let file = try PosixFile.open(path: "/dev/null") else { return }
        try channel.triggerUserOutboundEvent(SendFileEvent(file: file, range: 0..<0)).wait()
    }

    /// Waits until all written bytes of an answer are sent.
    ///
    /// - Returns: The result, as soon as it is known.
    func waitUntilSent() -> Sending {
        let sending = Sending()
        channel.triggerUserOutboundEvent(SentEvent()).assumeIsolated().whenComplete { sending.result = $0 }
        return sending
    }

    /// Whether an answer is sent; nil until that is known.
    final class Sending {
        fileprivate(set) var result: Result<Void, any Error>?

        var isDone: Bool { if case .success = result { true } else { false } }

        var error: (any Error)? { if case .failure(let error) = result { error } else { nil } }
    }

    /// Wants the body of the request.
    func wantBody() {
        channel.triggerUserOutboundEvent(ContinueEvent(), promise: nil)
    }

    /// Asks for more, or has it be asked for.
    func read() { channel.read() }

    /// Receives the event to shut down.
    func shutDown() {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    /// Whether the request that is being answered may be given up.
    var isAbandoned: Bool {
        var isAbandoned = false
        abandonment.assumeIsolated().whenSuccess { isAbandoned = true }
        return isAbandoned
    }

    private func noteFailure() {
        do {
            try channel.throwIfErrorCaught()
        } catch {
            failure = error
        }
    }
}

/// Stands where the socket would: takes what is written unless it is stuck, and closes its sending side after that.
private final class EmbeddedSocket: ChannelOutboundHandler {
    typealias OutboundIn = IOData

    var isStuck = false
    private(set) var isOutputClosed = false
    private var context: ChannelHandlerContext?
    private var closing: EventLoopPromise<Void>?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        closing?.fail(ChannelError.ioOnClosedChannel)
    }

    func flush(context: ChannelHandlerContext) {
        if !isStuck { context.flush() }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        closing = promise
        if !isStuck { closeOutput() }
    }

    func takeAll() {
        context?.flush()
        closeOutput()
    }

    private func closeOutput() {
        guard let closing else { return }
        self.closing = nil
        isOutputClosed = true
        closing.succeed()
    }
}
