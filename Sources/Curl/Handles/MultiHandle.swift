import CLibCurl
import Concurrency
import Glibc

/// libcurl's handle of many transfers and their connections.
///
/// Only the thread that calls libcurl uses it.
final class MultiHandle {
    private struct Watched {
        let id: UInt64
        var events: SocketWatcher.Events
    }

    private let handle: UnsafeMutableRawPointer
    private var watched: [CInt: Watched] = [:]
    /// Sockets that the system does not watch, for lack of memory; they are looked at now and then.
    private var unwatched: Set<CInt> = []
    private let onReady: @Sendable (CInt, SocketWatcher.Events) -> Void
    private(set) var transfers: [ObjectIdentifier: EasyHandle] = [:]
    /// The transfers that libcurl has called back for since their tasks were last resumed.
    var touched: [ObjectIdentifier: Transfer] = [:]
    /// When libcurl wants to be called without an event.
    private(set) var deadline: ContinuousClock.Instant?
    /// Since when it has no transfers; nil while it has some.
    private(set) var idleSince: ContinuousClock.Instant?

    /// How often libcurl is called in a row because it wants to be called at once.
    private static let maxCallsInARow = 32

    /// - Parameters:
    ///   - configuration: How connections are made.
    ///   - onReady: Called on the watcher's thread when a socket is ready.
    /// - Throws: ``CurlError/invalidRequest(_:)``.
    init(
        _ configuration: CurlConfiguration,
        onReady: @escaping @Sendable (CInt, SocketWatcher.Events) -> Void
    ) throws(CurlError) {
        guard LibCurl.isReady, let handle = curl_multi_init() else {
            throw .invalidRequest("this machine's libcurl is not built with OpenSSL")
        }
        (self.handle, self.onReady) = (handle, onReady)
        let code = curl_multi_set_functions(
            handle,
            { easy, socket, what, owner, _ in
                var easyOwner: UnsafeMutableRawPointer?
                _ = curl_get_pointer(easy, CURLINFO_PRIVATE, &easyOwner)
                MultiHandle.from(owner).watch(socket, what, for: easyOwner.map { EasyHandle.from($0) })
                return 0
            },
            { _, milliseconds, owner in
                MultiHandle.from(owner).deadline = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
                return 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        // All idle connections of a host may be used again.
        let size = curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, configuration.maxConnectionsPerHost)
        let isMultiplexed = configuration.version == .http2
        let pipelining = curl_multi_set_long(
            handle,
            CURLMOPT_PIPELINING,
            isMultiplexed ? Int(CURLPIPE_MULTIPLEX) : Int(CURLPIPE_NOTHING)
        )
        // With HTTP/1.1, the driver's queue limits them: libcurl would not say who waits for how long.
        let connections = curl_multi_set_long(
            handle,
            CURLMOPT_MAX_HOST_CONNECTIONS,
            isMultiplexed ? configuration.maxConnectionsPerHost : 0
        )
        let streams = curl_multi_set_long(
            handle,
            CURLMOPT_MAX_CONCURRENT_STREAMS,
            configuration.maxRequestsPerConnection
        )
        guard [code, size, pipelining, connections, streams].allSatisfy({ $0 == CURLM_OK }) else {
            throw .invalidRequest("this machine's libcurl refuses an option")
        }
    }

    deinit {
        assert(SocketWatcher.shared.isOnThread, "libcurl was called from another thread")
        for easy in transfers.values { curl_multi_remove_handle(handle, easy.handle) }
        // No callback may get an owner that is going.
        _ = curl_multi_set_functions(handle, nil, nil, nil)
        curl_multi_cleanup(handle)
        // libcurl has closed its sockets, whose numbers may belong to others by now.
        for socket in watched.values { SocketWatcher.shared.remove(nil, id: socket.id) }
    }

    private static func from(_ pointer: UnsafeMutableRawPointer?) -> MultiHandle {
        guard let pointer else { preconditionFailure("libcurl has lost the owner of a callback") }
        return Unmanaged<MultiHandle>.fromOpaque(pointer).takeUnretainedValue()
    }

    var hasUnwatchedSockets: Bool { !unwatched.isEmpty }

    /// Begins a transfer.
    func add(_ easy: EasyHandle) throws(CurlError) {
        easy.multi = self
        guard curl_multi_add_handle(handle, easy.handle) == CURLM_OK else {
            throw .invalidRequest("libcurl takes no more transfers")
        }
        transfers[ObjectIdentifier(easy.transfer)] = easy
        idleSince = nil
    }

    /// Ends a transfer; if it is not complete, with its connection.
    func remove(_ easy: EasyHandle) {
        guard transfers.removeValue(forKey: ObjectIdentifier(easy.transfer)) != nil else { return }
        curl_multi_remove_handle(handle, easy.handle)
        if transfers.isEmpty { idleSince = .now }
    }

    /// Lets a transfer go on, as far as it has room or bytes.
    func resume(_ easy: EasyHandle) {
        guard let (receives, sends) = easy.transfer.resume() else { return }
        var mask = CURLPAUSE_CONT
        if !receives { mask |= CURLPAUSE_RECV }
        if !sends { mask |= CURLPAUSE_SEND }
        curl_easy_pause(easy.handle, mask)
        deadline = .now
    }

    /// Lets libcurl work, with a socket or because of its time.
    ///
    /// - Returns: The transfers that have ended, with libcurl's result.
    func act(_ socket: CInt? = nil, _ events: SocketWatcher.Events = []) -> [(EasyHandle, CURLcode)] {
        var running: CInt = 0
        var mask: CInt = 0
        if events.contains(.readable) { mask |= CURL_CSELECT_IN }
        if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
        if let socket { curl_multi_socket_action(handle, socket, mask, &running) }
        // Without events, libcurl asks the system itself.
        for socket in unwatched { curl_multi_socket_action(handle, socket, 0, &running) }
        for _ in 0..<Self.maxCallsInARow {
            guard let deadline, deadline <= .now else { break }
            self.deadline = nil
            curl_multi_socket_action(handle, CURL_SOCKET_TIMEOUT, 0, &running)
        }
        // A socket is watched until it is ready once.
        if let socket, let watched = watched[socket] { watch(socket, watched) }
        return ended()
    }

    private func ended() -> [(EasyHandle, CURLcode)] {
        var ended: [(EasyHandle, CURLcode)] = []
        var left: CInt = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            var owner: UnsafeMutableRawPointer?
            _ = curl_get_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &owner)
            ended.append((EasyHandle.from(owner), curl_message_result(message)))
        }
        return ended
    }

    private func watch(_ socket: CInt, _ what: CInt, for easy: EasyHandle?) {
        let old = watched[socket]
        guard what != CURL_POLL_REMOVE else {
            watched[socket] = nil
            unwatched.remove(socket)
            if let old { SocketWatcher.shared.remove(socket, id: old.id) }
            return
        }
        var events: SocketWatcher.Events = []
        if what & CURL_POLL_IN != 0 { events.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
        let id = old?.id ?? SocketWatcher.shared.add(socket) { [onReady] in onReady(socket, $0) }
        let new = Watched(id: id, events: events)
        watched[socket] = new
        easy?.socket = socket
        watch(socket, new)
    }

    private func watch(_ socket: CInt, _ watched: Watched) {
        if SocketWatcher.shared.watch(socket, id: watched.id, for: watched.events) {
            unwatched.remove(socket)
        } else {
            unwatched.insert(socket)
        }
    }
}
