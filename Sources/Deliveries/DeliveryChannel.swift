/// Sends deliveries one way.
package protocol DeliveryChannel: Sendable {
    var name: DeliveryChannelName { get }

    /// The names of the servers of which it says that they take nothing at present.
    var servers: [String] { get }

    /// Composes a delivery from what is there now, and sends it.
    ///
    /// It may be cancelled, and takes at most a minute: then it is cancelled.
    ///
    /// - Parameter delivery: What to send. It may have been sent before, if the answer was lost.
    /// - Returns: What came of it.
    func send(_ delivery: Delivery) async -> DeliveryOutcome
}

extension DeliveryChannel {
    package var servers: [String] { [] }
}
