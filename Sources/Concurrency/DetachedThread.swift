import CLinux
import Glibc

/// A thread for work that blocks.
///
/// The threads behind Dispatch's queues are limited to some hundred for the whole process, so that work that blocks could
/// take the last one.
package enum DetachedThread {
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Runs something on a thread of its own, which ends with it.
    ///
    /// Signals from outside go to other threads.
    ///
    /// - Parameters:
    ///   - name: What the system calls the thread: 15 bytes at most (prctl(2)).
    ///   - body: What to run.
    /// - Returns: Whether there was a thread. If not, the body does not run.
    package static func run(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var (everySignal, signals) = (sigset_t(), sigset_t())
        sigfillset(&everySignal)
        // Those of a crash on the thread itself have handlers that print where it was.
        for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { sigdelset(&everySignal, signal) }
        // A new thread has the mask of the one that makes it.
        pthread_sigmask(SIG_SETMASK, &everySignal, &signals)
        defer { pthread_sigmask(SIG_SETMASK, &signals, nil) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { pointer in
                guard let pointer else { return nil }
                let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
                linux_name_thread(start.name)
                start.body()
                return nil
            },
            start.toOpaque()
        )
        guard code == 0 else {
            start.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
