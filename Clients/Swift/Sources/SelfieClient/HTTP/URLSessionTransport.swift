import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import Glibc
#endif

/// Sends requests with `URLSession`, without cookies and without a cache of its own.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let delegate = TransferDelegate()
    #if canImport(Darwin)
        private let background: BackgroundUploads?

        /// Lets the outbox's uploads go on while the app does not run.
        ///
        /// The app calls ``Selfie/finishBackgroundUploads()`` when the system tells it that they are done.
        ///
        /// - Important: An app extension takes ``init()``. The system refuses a background session of an extension without
        ///   a container that it shares with the app, and the client keeps no files there.
        ///
        /// - Parameter backgroundIdentifier: The name of the background session, such as `com.example.selfies.uploads`.
        @available(iOSApplicationExtension, unavailable, message: "An app extension takes URLSessionTransport().")
        @available(macOSApplicationExtension, unavailable, message: "An app extension takes URLSessionTransport().")
        public init(backgroundIdentifier: String) {
            session = Self.makeSession(delegate)
            background = BackgroundUploads(identifier: backgroundIdentifier)
        }
    #endif

    /// Whether the system goes on with uploads while the app does not run.
    var sendsInBackground: Bool {
        #if canImport(Darwin)
            background != nil
        #else
            false
        #endif
    }

    /// Sends all requests while the app, or its extension, runs.
    public init() {
        session = Self.makeSession(delegate)
        #if canImport(Darwin)
            background = nil
        #endif
    }

    private static func makeSession(_ delegate: TransferDelegate) -> URLSession {
        #if !canImport(CommonCrypto)
            precondition(LibCrypto.isReady, "libcrypto can't be used.")
        #endif
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The transport's own time limit ends a silence; a large upload may take long as a whole.
        configuration.timeoutIntervalForResource = 7 * 24 * 3600
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    public func send(_ request: TransportRequest, progress: (@Sendable (Int64) -> Void)?) async throws
        -> TransportResponse
    {
        try Task.checkCancellation()
        var urlRequest = URLRequest(url: request.url)
        urlRequest.httpMethod = request.method
        urlRequest.timeoutInterval = request.timeout.seconds
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        #if canImport(Darwin)
            if let background, let id = request.backgroundID, case .file(let file) = request.body {
                return try await background.send(request, urlRequest, file: file, id: id, progress: progress)
            }
        #endif
        #if canImport(Darwin)
            let (session, delegate) = (session, delegate)
        #else
            let (session, delegate) = sessionAndDelegate(for: request)
            defer { if session !== self.session { session.finishTasksAndInvalidate() } }
        #endif
        let task: URLSessionTask
        switch request.body {
        case .none:
            task = session.dataTask(with: urlRequest)
        case .data(let data):
            task = session.uploadTask(with: urlRequest, from: data)
        case .file(let file):
            #if canImport(Darwin)
                guard FileManager.default.isReadableFile(atPath: file.path) else { throw TransportError.unreadableBody }
                task = session.uploadTask(with: urlRequest, fromFile: file)
            #else
                // Foundation of Linux reads files beside libcurl, and ends the process when a connection is cut meanwhile.
                guard let data = try? Data(contentsOf: file, options: .alwaysMapped) else {
                    throw TransportError.unreadableBody
                }
                task = session.uploadTask(with: urlRequest, from: data)
            #endif
        }
        let transfer = Transfer(request, task: task)
        delegate.add(transfer)
        return try await transfer.response(progress)
    }

    #if !canImport(Darwin)
        /// A session of its own, and so a new connection, for each change; reads share connections.
        ///
        /// When a connection that was used before is lost, libcurl sends the request once more by itself. So the service could
        /// make a change twice. And Foundation of Linux leaves the body out then, so the service waits for it.
        private func sessionAndDelegate(for request: TransportRequest) -> (URLSession, TransferDelegate) {
            if ["GET", "HEAD"].contains(request.method) { return (session, delegate) }
            let own = TransferDelegate()
            return (Self.makeSession(own), own)
        }
    #endif

    #if canImport(Darwin)
        /// Waits until the system has told of all background uploads that ended while the app did not run.
        func waitForBackgroundEvents() async { await background?.waitForEvents() }
    #endif
}

/// One request of a session, and what came of it so far.
final class Transfer: Sendable {
    private struct State {
        var head: (status: Int, headers: [String: String])?
        var body = Data()
        var file: FileHandle?
        var byteCount = 0
        var error: TransportError?
        var progress: (@Sendable (Int64) -> Void)?
        var result: Result<TransportResponse, any Error>?
        var continuation: CheckedContinuation<TransportResponse, any Error>?
    }

    let task: URLSessionTask
    let request: TransportRequest
    private let state = Locked(State())

    init(_ request: TransportRequest, task: URLSessionTask) { (self.request, self.task) = (request, task) }

    /// Starts the request, if it is not under way, and waits for its answer; one caller at a time.
    func response(_ progress: (@Sendable (Int64) -> Void)?) async throws -> TransportResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    state.progress = progress
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) } else { task.resume() }
            }
        } onCancel: {
            task.cancel()
        }
    }

    /// Whether it has ended without an answer.
    var hasFailed: Bool {
        state.withLock { state in
            if case .failure? = state.result { true } else { false }
        }
    }

    func hasSent(_ bytes: Int64) { state.withLock(\.progress)?(bytes) }

    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        var headers: [String: String] = [:]
        for case let (name as String, value as String) in response.allHeaderFields { headers[name] = value }
        state.withLock { $0.head = (response.statusCode, headers) }
    }

    func receive(_ data: Data) {
        let hasFailed = state.withLock { state in
            guard state.error == nil else { return false }
            state.byteCount += data.count
            guard state.byteCount <= request.maxAnswerBytes else {
                state.error = .tooLarge
                return true
            }
            do {
                if let file = request.answerFile, state.head?.status == 200 {
                    if state.file == nil { state.file = try Self.make(file) }
                    try state.file?.write(contentsOf: data)
                } else {
                    state.body.append(data)
                }
                return false
            } catch {
                state.error = .unwritableAnswer
                return true
            }
        }
        if hasFailed { task.cancel() }
    }

    private static func make(_ file: URL) throws -> FileHandle {
        FileHandle(fileDescriptor: try Disk.open(file, O_WRONLY | O_CREAT | O_EXCL), closeOnDealloc: true)
    }

    func complete(_ error: (any Error)?) {
        let (result, continuation) = state.withLock { state in
            let result = Self.result(of: state, error)
            let continuation = state.continuation
            (state.result, state.continuation) = (result, nil)
            return (result, continuation)
        }
        continuation?.resume(with: result)
    }

    private static func result(of state: State, _ error: (any Error)?) -> Result<TransportResponse, any Error> {
        if let own = state.error { return .failure(own) }
        if let error { return .failure(TransportError.of(error)) }
        guard let head = state.head else { return .failure(TransportError.interrupted) }
        return .success(TransportResponse(status: head.status, headers: head.headers, body: state.body))
    }
}

/// Passes a session's events on to the transfer that they are for.
private final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Locked<[Int: Transfer]>([:])

    func add(_ transfer: Transfer) {
        transfers.withLock { $0[transfer.task.taskIdentifier] = transfer }
    }

    private func transfer(of task: URLSessionTask) -> Transfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection _: HTTPURLResponse,
        newRequest: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(transfer(of: task)?.request.followsRedirects == true ? newRequest : nil)
    }

    func urlSession(
        _: URLSession,
        task: URLSessionTask,
        didSendBodyData _: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend _: Int64
    ) {
        transfer(of: task)?.hasSent(totalBytesSent)
    }

    func urlSession(
        _: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(error)
    }
}

extension TransportError {
    /// What an error of `URLSession` means for the request.
    static func of(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return Self.interrupted }
        switch error.code {
        case .cancelled: return CancellationError()
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .dataNotAllowed,
            .internationalRoamingOff, .callIsActive:
            return Self.notConnected
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            return Self.notSecure
        default: return Self.interrupted
        }
    }
}
