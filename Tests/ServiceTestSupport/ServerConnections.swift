import Glibc

/// The connections that servers of this process have, as the system knows them.
package enum ServerConnections {
    /// An option of TCP, for each connection at a server's port.
    ///
    /// - Parameters:
    ///   - option: Its number.
    ///   - port: The port.
    /// - Returns: The values.
    package static func values(of option: CInt, port: Int) -> [CInt] {
        descriptors(port: port).compactMap { descriptor in
            var (value, size): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
            return getsockopt(descriptor, CInt(IPPROTO_TCP), option, &value, &size) == 0 ? value : nil
        }
    }

    /// How many bytes the system holds for the client of each connection at a server's port.
    package static func heldBytes(port: Int) -> [CInt] {
        descriptors(port: port).map { descriptor in
            var count: CInt = 0
            return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
        }
    }

    private static func descriptors(port: Int) -> [CInt] {
        (0..<CInt(sysconf(CInt(_SC_OPEN_MAX)))).filter { descriptor in
            var (local, peer) = (sockaddr_in(), sockaddr_in())
            return name(of: descriptor, getsockname, &local) && name(of: descriptor, getpeername, &peer)
                && local.sin_port == in_port_t(UInt16(port).bigEndian)
        }
    }

    private static func name(
        of descriptor: CInt,
        _ call: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt,
        _ address: inout sockaddr_in
    ) -> Bool {
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(descriptor, $0, &size) == 0 }
        }
    }
}
