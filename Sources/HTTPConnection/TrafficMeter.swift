import Synchronization

/// How many bytes all connections have sent and received.
package final class TrafficMeter: Sendable {
    private let received = Atomic(0)
    private let sent = Atomic(0)

    package init() {}

    package var bytesReceived: Int { received.load(ordering: .relaxed) }
    package var bytesSent: Int { sent.load(ordering: .relaxed) }

    func receive(_ bytes: Int) {
        received.add(bytes, ordering: .relaxed)
    }

    func send(_ bytes: Int) {
        sent.add(bytes, ordering: .relaxed)
    }
}
