import Glibc
import NIOConcurrencyHelpers

/// The sockets of a mail's connection, which other threads may end while libcurl waits for the server.
///
/// It has duplicates of their descriptors, so that none of them is somebody else's by now.
final class MailSockets: Sendable {
    private struct State {
        var duplicates: [CInt] = []
        var isOver = false
    }

    private let state = NIOLockedValueBox(State())

    /// Takes note of a new socket.
    ///
    /// - Returns: Whether it may be used.
    func add(_ socket: CInt) -> Bool {
        state.withLockedValue { state in
            if state.isOver { return false }
            let duplicate = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            guard duplicate >= 0 else { return false }
            state.duplicates.append(duplicate)
            return true
        }
    }

    /// Lets nobody wait for what the server says: libcurl has said `QUIT`.
    func stopReading() { shutDown(SHUT_RD) }

    /// Ends the connection at once, and all that are still to be made.
    func hangUp() {
        state.withLockedValue { $0.isOver = true }
        shutDown(SHUT_RDWR)
    }

    /// Closes its descriptors, once libcurl has closed its own.
    func close() {
        state.withLockedValue { state in
            state.isOver = true
            for duplicate in state.duplicates { _ = Glibc.close(duplicate) }
            state.duplicates = []
        }
    }

    private func shutDown(_ how: Int) {
        state.withLockedValue { state in
            for duplicate in state.duplicates { _ = shutdown(duplicate, CInt(how)) }
        }
    }
}
