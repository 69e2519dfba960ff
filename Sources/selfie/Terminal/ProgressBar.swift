import Glibc
import SelfieOperations
import Synchronization

/// A line on the terminal that shows a task's progress.
///
/// It shows nothing if standard error is not a terminal.
final class ProgressBar: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let state = Mutex(State())

    private struct State {
        var isShown = false
        var drawn: ContinuousClock.Instant?
    }

    private static let pause: Duration = .milliseconds(100)
    private static let width = 30

    /// Shows the progress, at most ten times a second.
    func show(_ progress: TaskProgress) {
        guard isTerminal else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if let drawn = state.drawn, now - drawn < Self.pause, progress.done < progress.total { return }
            state.drawn = now
            state.isShown = true
            StandardError.write("\r\(Self.line(progress))\u{1B}[K")
        }
    }

    /// Removes the line, so that others can be printed.
    func clear() {
        state.withLock { state in
            guard state.isShown else { return }
            state.isShown = false
            StandardError.write("\r\u{1B}[K")
        }
    }

    /// The line, without the codes that move the cursor.
    static func line(_ progress: TaskProgress) -> String {
        let part = progress.total > 0 ? Double(progress.done) / Double(progress.total) : 1
        let filled = Int((Double(width) * part).rounded(.down))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "\(progress.task) [\(bar)] \(Int(100 * part)) % (\(progress.done) of \(progress.total))"
    }
}
