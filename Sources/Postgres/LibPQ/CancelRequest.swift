import CLibPQ

/// Asks the server, over a connection of its own, to cancel the statement that one of its sessions runs.
struct CancelRequest: ~Copyable, Sendable {
    /// The address of libpq's object.
    ///
    /// It shares nothing with the connection that it was made from.
    private let address: UInt

    init(address: UInt) {
        self.address = address
    }

    deinit {
        PQfreeCancel(OpaquePointer(bitPattern: address))
    }

    /// Sends the request and waits until the server has taken note, which blocks the thread.
    ///
    /// After a failure, the statement continues.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        _ = PQcancel(OpaquePointer(bitPattern: address), &message, Int32(message.count))
    }
}
