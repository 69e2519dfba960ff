import Glibc
import ServerProcesses
import Synchronization

/// Connections that take a few bytes, and then one byte a second each, with hardly any room in the system's buffers.
package final class SlowReaders: Sendable {
    private let descriptors: [Int32]
    private let quickBytes: Int
    private let taken: Mutex<[[UInt8]]>
    private let reading = Mutex<Task<Void, Never>?>(nil)

    /// Opens connections, and begins to read from them.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - port: The server's port.
    ///   - quickBytes: How many bytes each takes as soon as they come, before it becomes slow.
    ///   - request: What each sends. It fits into the system's buffers, since nobody else has its thread meanwhile.
    /// - Throws: `NotInTime` when one can't be opened.
    package init(_ count: Int, port: Int, quickBytes: Int = 4_096, request: (Int) -> String) throws {
        descriptors = try (0..<count).map { number in try Self.open(port: port, request: request(number)) }
        self.quickBytes = quickBytes
        taken = Mutex(descriptors.map { _ in [] })
        let task = Task { [self] in
            while !Task.isCancelled {
                var goesOn = false
                for number in 0..<count where take(number) { goesOn = true }
                try? await Task.sleep(for: goesOn ? .milliseconds(20) : .seconds(1))
            }
        }
        reading.withLock { $0 = task }
    }

    /// What each has taken so far.
    package var texts: [String] {
        taken.withLock { taken in taken.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// How many have taken something.
    package var begunCount: Int {
        taken.withLock { taken in taken.count { !$0.isEmpty } }
    }

    /// Takes what one may take now.
    ///
    /// - Returns: Whether something came, and it may take more at once.
    private func take(_ number: Int) -> Bool {
        taken.withLock { taken in
            var bytes = [UInt8](repeating: 0, count: max(1, quickBytes - taken[number].count))
            let count = recv(descriptors[number], &bytes, bytes.count, CInt(MSG_DONTWAIT))
            if count > 0 { taken[number] += bytes.prefix(count) }
            return count > 0 && taken[number].count < quickBytes
        }
    }

    /// Closes them all.
    ///
    /// - Returns: What each has taken.
    @discardableResult
    package func close() async -> [String] {
        let task = reading.withLock { $0 }
        task?.cancel()
        await task?.value
        for descriptor in descriptors { Glibc.close(descriptor) }
        return texts
    }

    private static func open(port: Int, request: String) throws -> Int32 {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var bytes: CInt = 2048
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isOpen = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isOpen, send(descriptor, request, request.utf8.count, 0) == request.utf8.count else {
            throw NotInTime(what: "a connection")
        }
        return descriptor
    }
}
