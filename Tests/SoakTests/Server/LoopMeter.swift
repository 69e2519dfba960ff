import CLinux
import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Measures for how long work keeps the event loops that services use from their sockets.
///
/// A loop looks at its sockets once no task is left, into however many tasks the work is cut. So each loop sends itself a
/// datagram every millisecond. Between two of them, it counts the processor's time of its thread: a busy machine does not
/// matter.
final class LoopMeter: Sendable {
    private let longest = Mutex<TimeAmount>(.zero)
    private let sockets: [any Channel]

    /// Measures from now on, until ``close()``.
    private init() async throws {
        var sockets: [any Channel] = []
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            sockets.append(try await DatagramBootstrap(group: loop).bind(host: "127.0.0.1", port: 0).get())
        }
        self.sockets = sockets
        for socket in sockets {
            try await socket.eventLoop.submit { [self] in
                try socket.pipeline.syncOperations.addHandler(Probe(of: socket, self))
            }.get()
        }
    }

    /// Measures while the body runs.
    ///
    /// - Throws: What the body or opening a socket throws.
    static func run<Result>(_ body: (LoopMeter) async throws -> Result) async throws -> Result {
        let meter = try await LoopMeter()
        do {
            let result = try await body(meter)
            await meter.close()
            return result
        } catch {
            await meter.close()
            throw error
        }
    }

    private func close() async {
        for socket in sockets { try? await socket.close() }
    }

    /// The longest time since it was taken last, with what each loop does at the moment.
    func take() async throws -> TimeAmount {
        for socket in sockets {
            let looked = socket.eventLoop.makePromise(of: Void.self)
            socket.eventLoop.execute {
                do {
                    try socket.pipeline.syncOperations.handler(type: Probe.self).waiting.append(looked)
                } catch {
                    looked.fail(error)
                }
            }
            try await looked.futureResult.get()
        }
        return longest.withLock { longest in
            defer { longest = .zero }
            return longest
        }
    }

    fileprivate func note(_ time: TimeAmount) { longest.withLock { $0 = max($0, time) } }
}

/// A socket that sends itself datagrams.
private final class Probe: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let socket: any Channel
    private let meter: LoopMeter
    /// What the thread had used when the loop looked at the socket last.
    private var lastTime = Probe.threadTime
    /// Those who wait until the loop looks at the socket again.
    var waiting: [EventLoopPromise<Void>] = []

    init(of socket: any Channel, _ meter: LoopMeter) {
        self.socket = socket
        self.meter = meter
    }

    func handlerAdded(context: ChannelHandlerContext) { send() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = Self.threadTime
        meter.note(now - lastTime)
        lastTime = now
        for promise in waiting { promise.succeed() }
        waiting = []
        context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { self.send() }
    }

    private func send() {
        guard let address = socket.localAddress else { return }
        socket.writeAndFlush(AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: [0])), promise: nil)
    }

    private static var threadTime: TimeAmount {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
