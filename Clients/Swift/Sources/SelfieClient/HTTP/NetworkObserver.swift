#if canImport(Network)
    import Dispatch
    import Network

    /// Tells when there is a network again.
    final class NetworkObserver: Sendable {
        private let monitor = NWPathMonitor()

        /// - Parameter isBack: Called at the start, and whenever the network has changed to one that can be used.
        init(_ isBack: @escaping @Sendable () async -> Void) {
            monitor.pathUpdateHandler = { path in
                guard path.status == .satisfied else { return }
                Task { await isBack() }
            }
            monitor.start(queue: DispatchQueue(label: "Selfie.network"))
        }

        deinit { monitor.cancel() }
    }
#endif
