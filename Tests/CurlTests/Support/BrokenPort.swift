import Glibc
import NIOCore

/// A port of this machine that takes no connection.
///
/// Nobody else can listen there meanwhile.
final class BrokenPort {
    private var descriptors: [CInt] = []

    struct Failure: Error {
        let code: CInt
    }

    /// More than the queue of a listening socket takes, which has room for two with a backlog of one.
    private static let connectionCount = 8

    /// - Parameters:
    ///   - address: The address and the port; 0 for any free port.
    ///   - isSilent: Whether connections wait without end, because the queue is full. Otherwise they are refused.
    /// - Throws: `Failure`.
    init(_ address: SocketAddress, isSilent: Bool) throws {
        try address.withSockAddr { pointer, length in
            let listener = try add(address.protocol.rawValue)
            guard bind(listener, pointer, socklen_t(length)) == 0 else { throw Failure(code: errno) }
            guard isSilent else { return }
            guard listen(listener, 1) == 0 else { throw Failure(code: errno) }
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
