import Glibc

/// A port of this machine that takes connections and never says a word; it is let go with this value.
package final class SilentServer: Sendable {
    /// The port, chosen by the system.
    package let port: Int
    private let descriptor: CInt

    package struct Failure: Error {
        let code: CInt
    }

    /// Begins to listen.
    ///
    /// - Throws: `Failure` with an `errno`.
    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isListening else {
            defer { close(descriptor) }
            throw Failure(code: errno)
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// How many have connected since this was last asked.
    package func takeConnections() -> Int {
        var count = 0
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, 0) == 1 {
            let client = accept(descriptor, nil, nil)
            guard client >= 0 else { break }
            close(client)
            count += 1
        }
        return count
    }

    deinit {
        close(descriptor)
    }
}
