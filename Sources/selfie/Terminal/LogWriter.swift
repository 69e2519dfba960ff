import Concurrency
import Dispatch
import Glibc
import Synchronization

/// Writes lines to a descriptor on a thread of its own, so that logging never waits for a pipe, a terminal or a disk.
///
/// Lines wait in memory. Those that do not fit are dropped. A later line says how many.
final class LogWriter: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var lostCount = 0
        /// Whether the thread will look at what is pending without being woken.
        var isAwake = false
        /// Whether there is no thread, so that the caller writes its line itself.
        var writesAtOnce = false
    }

    private let descriptor: Int32
    private let maxBytes: Int
    private let lossLine: @Sendable (Int) -> [UInt8]
    private let state = Mutex(State())
    private let wakening = DispatchSemaphore(value: 0)

    /// How many bytes of lines may wait, besides as many that are being written.
    static let usualMaxBytes = 512 * 1024

    /// How long lines are collected after others were written, so that many are written at once.
    private static let pauseMicroseconds: UInt32 = 2_000

    /// - Parameters:
    ///   - descriptor: Where to write. The writer does not close it.
    ///   - maxBytes: How many bytes of lines may wait.
    ///   - lossLine: Makes the line that says how many were dropped.
    ///   - startThread: Runs its argument on a new thread; returns false when the system has none.
    init(
        descriptor: Int32,
        maxBytes: Int = usualMaxBytes,
        lossLine: @escaping @Sendable (Int) -> [UInt8],
        startThread: (String, @escaping @Sendable () -> Void) -> Bool = DetachedThread.run
    ) {
        self.descriptor = descriptor
        self.maxBytes = maxBytes
        self.lossLine = lossLine
        let hasThread = startThread("log") { [self] in writeForEver() }
        if !hasThread { state.withLock { $0.writesAtOnce = true } }
    }

    /// Queues a line, or counts it as lost.
    ///
    /// - Parameter line: A line with its end.
    func write(_ line: [UInt8]) {
        let wakes = state.withLock { state in
            if state.writesAtOnce {
                _ = writeAll(line)
                return false
            }
            guard state.pending.count + line.count <= maxBytes else {
                state.lostCount += 1
                return false
            }
            state.pending += line
            defer { state.isAwake = true }
            return !state.isAwake
        }
        if wakes { wakening.signal() }
    }

    /// Waits until all lines are written, up to a limit.
    ///
    /// - Parameter timeout: How long to wait.
    func flush(within timeout: Duration) {
        let end = ContinuousClock.now + timeout
        while state.withLock(\.isAwake), .now < end { usleep(Self.pauseMicroseconds) }
    }

    private func writeForEver() {
        var batch: [UInt8] = []
        while true {
            wakening.wait()
            while let lostCount = takePending(&batch) {
                let lineCount = batch.count { $0 == UInt8(ascii: "\n") }
                if lostCount > 0 { batch += lossLine(lostCount) }
                guard writeAll(batch) else {
                    noteLoss(of: lostCount + lineCount)
                    break
                }
                usleep(Self.pauseMicroseconds)
            }
        }
    }

    /// Takes what is pending.
    ///
    /// - Parameter batch: Gets it.
    /// - Returns: How many lines were lost before; nil when there is nothing to write, and the thread may sleep.
    private func takePending(_ batch: inout [UInt8]) -> Int? {
        batch.removeAll(keepingCapacity: true)
        return state.withLock { state in
            guard !state.pending.isEmpty || state.lostCount > 0 else {
                state.isAwake = false
                return nil
            }
            swap(&batch, &state.pending)
            defer { state.lostCount = 0 }
            return state.lostCount
        }
    }

    /// Counts lines that the descriptor did not take.
    ///
    /// The next line tries again.
    private func noteLoss(of count: Int) {
        state.withLock { state in
            state.lostCount += count
            state.lostCount += state.pending.count { $0 == UInt8(ascii: "\n") }
            state.pending.removeAll()
            state.isAwake = false
        }
    }

    /// - Returns: Whether the descriptor took all bytes.
    private func writeAll(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // A process that shares the descriptor has made it non-blocking.
                    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = Glibc.poll(&poll, 1, -1)
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
