import Glibc

/// A server that reads and sends so slowly that the sockets' buffers show it: 10 KiB a second, in either direction.
///
/// It serves one connection, on a thread of its own.
final class SlowPeer: Sendable {
    let port: Int
    private let listener: CInt

    private static let piece = 512
    private static let pause: UInt32 = 50_000

    struct Failure: Error {}

    init() throws {
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        // Before it listens: a connection inherits the size. Otherwise the system would take megabytes at once.
        var size: CInt = 4_096
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (bound, descriptor) = (listener, listener)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(bound, address, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isListening else { throw Failure() }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(listener) }

    /// Reads a request with a body of so many bytes, and answers with as many; blocks.
    func serve(byteCount: Int) {
        let connection = accept(listener, nil, nil)
        defer { close(connection) }
        var buffer = [UInt8](repeating: 0, count: Self.piece)
        var head: [UInt8] = []
        while !head.contains("\r\n\r\n".utf8) {
            guard read(connection, &buffer, 1) == 1 else { return }
            head.append(buffer[0])
        }
        var left = byteCount
        while left > 0 {
            let count = read(connection, &buffer, min(left, buffer.count))
            guard count > 0 else { return }
            left -= count
            usleep(Self.pause)
        }
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(byteCount)\r\n\r\n".utf8)
        guard write(connection, answer, answer.count) == answer.count else { return }
        left = byteCount
        while left > 0 {
            let count = send(connection, &buffer, min(left, buffer.count), CInt(MSG_NOSIGNAL))
            guard count > 0 else { return }
            left -= count
            usleep(Self.pause)
        }
    }
}
