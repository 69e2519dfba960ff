import Glibc
import RenderInterface
import Synchronization

/// One renderer, from its start to its end, on one thread that may block.
struct RenderRun: Sendable {
    /// Tells the thread that nobody waits for it any more.
    final class Cancellation: Sendable {
        private let isSet = Atomic(false)

        var isCancelled: Bool { isSet.load(ordering: .acquiring) }

        func cancel() { isSet.store(true, ordering: .releasing) }
    }

    let program: String
    let words: [String]
    let photo: Int32
    let budget: RenderBudget
    let cancellation: Cancellation

    /// Starts the renderer, watches it, and waits for its end, however that comes.
    ///
    /// - Returns: What it wrote; nil when the photo is small enough.
    /// - Throws: The reason why there is none.
    func run() throws(RenderFailure) -> [UInt8]? {
        guard !cancellation.isCancelled else { throw .cancelled }
        var pipe = try OutputPipe()
        var child = try ChildProcess(program: program, arguments: words, input: photo, output: pipe.writeEnd)
        pipe.closeWriteEnd()
        var supervision = RenderSupervision(budget: budget, start: .now)
        while true {
            // At the pipe's end, the process is about to end, too.
            pipe.wait(milliseconds: pipe.isAtEnd ? 1 : Int32(clamping: budget.intervalMilliseconds))
            pipe.readAvailable()
            if let ending = child.ended() {
                let hasResult = try supervision.hasResult(ending)
                pipe.readAvailable()
                return hasResult ? pipe.bytes : nil
            }
            supervision.look(
                at: .now,
                residentBytes: child.residentBytes,
                outputBytes: pipe.bytes.count,
                isCancelled: cancellation.isCancelled
            )
            if let verdict = supervision.verdict {
                child.end()
                throw verdict
            }
        }
    }
}
