import Glibc
import NIOCore

/// A port of this machine that takes no connection and refuses none: its queue is full.
final class FullPort {
    private var descriptors: [CInt] = []

    struct Failure: Error {
        let code: CInt
    }

    /// More than the queue of a listening socket takes, which has room for two with a backlog of one.
    private static let connectionCount = 8

    init(_ address: SocketAddress) throws {
        try address.withSockAddr { pointer, length in
            let listener = try add(address.protocol.rawValue)
            guard bind(listener, pointer, socklen_t(length)) == 0, listen(listener, 1) == 0 else {
                throw Failure(code: errno)
            }
            for _ in 0..<Self.connectionCount {
                connect(try add(address.protocol.rawValue), pointer, socklen_t(length))
            }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }

    private func add(_ family: CInt) throws -> CInt {
        let flags = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, flags, 0)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        descriptors.append(descriptor)
        return descriptor
    }
}
